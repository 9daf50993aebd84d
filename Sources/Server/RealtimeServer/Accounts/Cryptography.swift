private import CLibcrypto
private import Foundation
internal import RealtimeCore

/// The functions of OpenSSL that accounts need.
///
/// They belong to a context of their own, so that no configuration of the machine changes them.
/// Only when there is no memory do they fail.
enum Cryptography {
  // Safety: OpenSSL's contexts and algorithms may be used by several threads at once.
  fileprivate nonisolated(unsafe) static let context: OpaquePointer? = {
    // Otherwise `exit` frees what threads that end at the same moment free as well.
    OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    let context = OSSL_LIB_CTX_new()
    return OSSL_PROVIDER_load(context, "default") == nil ? nil : context
  }()
  private nonisolated(unsafe) static let gcm = EVP_CIPHER_fetch(context, "AES-256-GCM", nil)
  private static let (nonceBytes, tagBytes) = (12, 16)

  /// The SHA-256 digest of bytes.
  ///
  /// Without memory for it the process ends, as it does without memory for an array.
  ///
  /// - Complexity: O(bytes)
  static func sha256(_ bytes: some Collection<UInt8>) -> [UInt8] {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    let isDone = EVP_Q_digest(context, "SHA256", nil, bytes, bytes.count, &digest, nil) == 1
    precondition(isDone, "there is no memory for a digest")
    return digest
  }

  /// The HMAC of bytes with SHA-256.
  ///
  /// Without memory for it the process ends, as it does without memory for an array.
  ///
  /// - Complexity: O(bytes)
  static func hmac(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    let size = code.count
    let done = EVP_Q_mac(
      context,
      "HMAC",
      nil,
      "SHA256",
      nil,
      key,
      key.count,
      bytes,
      bytes.count,
      &code,
      size,
      nil
    )
    precondition(done != nil, "there is no memory for an authentication code")
    return code
  }

  /// A key of 32 bytes for one purpose, derived from a secret by HKDF (RFC 5869) without a salt.
  static func key(from secret: [UInt8], for purpose: String) -> [UInt8] {
    let pseudorandom = hmac(of: secret, key: [UInt8](repeating: 0, count: 32))
    return hmac(of: Array(purpose.utf8) + [1], key: pseudorandom)
  }

  /// A key of 32 bytes derived from a password by scrypt (RFC 7914); nil without memory.
  static func scrypt(_ password: [UInt8], salt: [UInt8], cost: PasswordCost) -> [UInt8]? {
    var key = [UInt8](repeating: 0, count: 32)
    let size = key.count
    let isDone = password.withUnsafeBytes { password in
      EVP_PBE_scrypt_ex(
        password.baseAddress?.assumingMemoryBound(to: CChar.self),
        password.count,
        salt,
        salt.count,
        1 << UInt64(cost.roundsLog2),
        UInt64(cost.blockSize),
        UInt64(cost.parallelism),
        2 << 30,
        &key,
        size,
        context,
        nil
      )
    }
    return isDone == 1 ? key : nil
  }

  /// Encrypts bytes by AES-256-GCM: a random nonce, the ciphertext and the tag; nil without memory.
  static func sealed(_ bytes: [UInt8], key: [UInt8], authenticating label: String) -> [UInt8]? {
    let nonce = Randomness.bytes(nonceBytes)
    guard let cipher = EVP_CIPHER_CTX_new() else { return nil }
    defer { EVP_CIPHER_CTX_free(cipher) }
    var (output, tag) = (
      [UInt8](repeating: 0, count: bytes.count), [UInt8](repeating: 0, count: tagBytes)
    )
    let (label, size) = (Array(label.utf8), Int32(tagBytes))
    var count: Int32 = 0
    guard EVP_EncryptInit_ex2(cipher, gcm, key, nonce, nil) == 1,
      EVP_EncryptUpdate(cipher, nil, &count, label, Int32(label.count)) == 1,
      EVP_EncryptUpdate(cipher, &output, &count, bytes, Int32(bytes.count)) == 1,
      EVP_EncryptFinal_ex(cipher, nil, &count) == 1,
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, size, &tag) == 1
    else { return nil }
    return nonce + output + tag
  }

  /// Decrypts what ``sealed(_:key:authenticating:)`` returns; nil if the key or label differs.
  static func opened(_ bytes: [UInt8], key: [UInt8], authenticating label: String) -> [UInt8]? {
    guard bytes.count >= nonceBytes + tagBytes, let cipher = EVP_CIPHER_CTX_new() else {
      return nil
    }
    defer { EVP_CIPHER_CTX_free(cipher) }
    let (nonce, sealed) = (
      Array(bytes.prefix(nonceBytes)), Array(bytes.dropFirst(nonceBytes).dropLast(tagBytes))
    )
    var tag = Array(bytes.suffix(tagBytes))
    var output = [UInt8](repeating: 0, count: sealed.count)
    let (label, size) = (Array(label.utf8), Int32(tagBytes))
    var count: Int32 = 0
    guard EVP_DecryptInit_ex2(cipher, gcm, key, nonce, nil) == 1,
      EVP_DecryptUpdate(cipher, nil, &count, label, Int32(label.count)) == 1,
      EVP_DecryptUpdate(cipher, &output, &count, sealed, Int32(sealed.count)) == 1,
      EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_SET_TAG, size, &tag) == 1,
      // What was decrypted counts only now that the tag is right.
      EVP_DecryptFinal_ex(cipher, nil, &count) == 1
    else { return nil }
    return output
  }

  /// Encrypts JSON, with a key for one purpose, as text for a URL; nil without memory.
  static func sealed(_ json: JSONValue, with secret: [UInt8], for purpose: String) -> String? {
    let key = key(from: secret, for: purpose)
    return sealed(Array(json.text.utf8), key: key, authenticating: purpose)
      .map { Base64URL.encode($0) }
  }

  /// Decrypts what ``sealed(_:with:for:)`` returns; nil if the secret or the purpose differs.
  static func opened(_ text: String, with secret: [UInt8], for purpose: String) -> JSONValue? {
    Base64URL.decode(text)
      .flatMap { opened($0, key: key(from: secret, for: purpose), authenticating: purpose) }
      .flatMap { try? JSONParser.parse($0) }
  }
}

/// A key pair of ECDSA over P-256, whose signatures are those of SHA-256 digests.
final class P256Key: Sendable {
  // Safety: OpenSSL lets threads share a key that nobody changes.
  private nonisolated(unsafe) let key: OpaquePointer

  /// The number of bytes of a private key, and of each of the two parts of point and signature.
  static let byteCount = 32
  /// What stands in front of a private key, and behind it, in the encoding of RFC 5915.
  private static let encoding = (
    head: [0x30, 0x31, 0x02, 0x01, 0x01, 0x04, 0x20] as [UInt8],
    tail: [0xA0, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07] as [UInt8]
  )

  /// Makes a key pair; OpenSSL makes none without memory.
  init() throws(StoreError) {
    let maker = EVP_PKEY_CTX_new_from_name(Cryptography.context, "EC", nil)
    defer { EVP_PKEY_CTX_free(maker) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(maker)
    EVP_PKEY_CTX_set_group_name(maker, "P-256")
    EVP_PKEY_generate(maker, &key)
    guard let key else {
      throw StoreError(.failed, description: "OpenSSL cannot make a key to sign tokens with")
    }
    self.key = key
  }

  /// Takes a private key; nil if these bytes are none.
  init?(privateBytes: [UInt8]) {
    guard privateBytes.count == Self.byteCount else { return nil }
    let text = Self.encoding.head + privateBytes + Self.encoding.tail
    let key = text.withUnsafeBufferPointer { text in
      var start = text.baseAddress
      return d2i_PrivateKey_ex(EVP_PKEY_EC, nil, &start, text.count, Cryptography.context, nil)
    }
    guard let key else { return nil }
    self.key = key
    let checker = EVP_PKEY_CTX_new_from_pkey(Cryptography.context, key, nil)
    defer { EVP_PKEY_CTX_free(checker) }
    guard EVP_PKEY_check(checker) == 1 else { return nil }
  }

  deinit { EVP_PKEY_free(key) }

  var privateBytes: [UInt8] {
    var number: OpaquePointer?
    EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_PRIV_KEY, &number)
    defer { BN_clear_free(number) }
    var bytes = [UInt8](repeating: 0, count: Self.byteCount)
    BN_bn2binpad(number, &bytes, Int32(bytes.count))
    return bytes
  }

  /// The public key: the two coordinates of its point, one behind the other.
  var publicBytes: [UInt8] {
    // The first byte says that the point is not compressed.
    var bytes = [UInt8](repeating: 0, count: 1 + 2 * Self.byteCount)
    let size = bytes.count
    EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_PUB_KEY, &bytes, size, nil)
    return Array(bytes.dropFirst())
  }

  /// Signs bytes: the two numbers of the signature, one behind the other; nil without memory.
  func signature(of bytes: [UInt8]) -> [UInt8]? {
    let signer = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(signer) }
    var encoded = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var count = encoded.count
    guard
      EVP_DigestSignInit_ex(signer, nil, "SHA256", Cryptography.context, nil, key, nil) == 1,
      EVP_DigestSign(signer, &encoded, &count, bytes, bytes.count) == 1
    else { return nil }
    let numbers = encoded.withUnsafeBufferPointer { encoded in
      var start = encoded.baseAddress
      return d2i_ECDSA_SIG(nil, &start, count)
    }
    guard let numbers else { return nil }
    defer { ECDSA_SIG_free(numbers) }
    let parts = [ECDSA_SIG_get0_r(numbers), ECDSA_SIG_get0_s(numbers)]
    return parts.flatMap { part in
      var bytes = [UInt8](repeating: 0, count: Self.byteCount)
      BN_bn2binpad(part, &bytes, Int32(bytes.count))
      return bytes
    }
  }

  /// Whether a signature of these bytes was made with this key.
  func isSigned(_ bytes: [UInt8], by signature: [UInt8]) -> Bool {
    guard signature.count == 2 * Self.byteCount, let numbers = ECDSA_SIG_new() else { return false }
    defer { ECDSA_SIG_free(numbers) }
    let size = Int32(Self.byteCount)
    let parts = (
      BN_bin2bn(Array(signature.prefix(Self.byteCount)), size, nil),
      BN_bin2bn(Array(signature.suffix(Self.byteCount)), size, nil)
    )
    guard ECDSA_SIG_set0(numbers, parts.0, parts.1) == 1 else { return false }
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = i2d_ECDSA_SIG(numbers, &encoded)
    defer { CRYPTO_free(encoded, nil, 0) }
    let verifier = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(verifier) }
    return count > 0
      && EVP_DigestVerifyInit_ex(verifier, nil, "SHA256", Cryptography.context, nil, key, nil) == 1
      && EVP_DigestVerify(verifier, encoded, Int(count), bytes, bytes.count) == 1
  }
}
