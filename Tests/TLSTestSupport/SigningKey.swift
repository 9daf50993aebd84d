internal import CLibcrypto

/// A key pair of ECDSA over P-256, of which certificates are made.
final class SigningKey: Sendable {
  /// OpenSSL has refused something.
  struct Refusal: Error {}

  // Safety: OpenSSL lets threads share a key that nobody changes.
  private nonisolated(unsafe) let key: OpaquePointer

  /// Makes a key pair.
  init() throws {
    let maker = EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
    defer { EVP_PKEY_CTX_free(maker) }
    var key: OpaquePointer?
    EVP_PKEY_keygen_init(maker)
    EVP_PKEY_CTX_set_group_name(maker, "P-256")
    EVP_PKEY_generate(maker, &key)
    guard let key else { throw Refusal() }
    self.key = key
  }

  deinit { EVP_PKEY_free(key) }

  /// The public key as certificates contain it.
  var publicPart: [UInt8] { encoded { i2d_PUBKEY(key, $0) } }

  /// The private key in PEM.
  var text: String { DER.text(of: encoded { i2d_PrivateKey(key, $0) }, named: "EC PRIVATE KEY") }

  /// The signature of the SHA-256 digest of bytes.
  func signature(of bytes: [UInt8]) throws -> [UInt8] {
    let signer = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(signer) }
    var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
    var count = signature.count
    guard EVP_DigestSignInit_ex(signer, nil, "SHA256", nil, nil, key, nil) == 1,
      EVP_DigestSign(signer, &signature, &count, bytes, bytes.count) == 1
    else { throw Refusal() }
    return Array(signature.prefix(count))
  }

  /// What a function of OpenSSL writes that first tells the size, and then advances the pointer.
  private func encoded(
    _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
  ) -> [UInt8] {
    let count = Int(write(nil))
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var start = buffer.baseAddress
      initialized = Int(write(&start))
    }
  }
}
