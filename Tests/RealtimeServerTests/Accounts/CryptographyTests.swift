import CLibcrypto
import Glibc
import TestSupport
import Testing

@testable import RealtimeServer

/// The published examples of each algorithm: what another library has stored stays readable.
@Suite("Cryptography")
struct CryptographyTests {
  @Test("SHA-256 digests are those of FIPS 180-4")
  func digests() {
    #expect(
      Cryptography.sha256("abc".utf8)
        == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    )
    #expect(
      Cryptography.sha256([])
        == bytes("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    )
  }

  @Test("Authentication codes are those of RFC 4231")
  func authenticationCodes() {
    let code = Cryptography.hmac(of: Array("Hi There".utf8), key: Array(repeating: 0x0B, count: 20))
    #expect(code == bytes("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    #expect(
      Cryptography.hmac(of: [], key: [])
        == bytes("b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    )
  }

  @Test("A key derived from a secret is that of RFC 5869")
  func derivedKeys() {
    let key = Cryptography.key(from: Array(repeating: 0x0B, count: 22), for: "")
    #expect(key == bytes("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"))
  }

  @Test("A key derived from a password is that of RFC 7914")
  func passwords() throws {
    let cost = try #require(PasswordCost(roundsLog2: 10, blockSize: 8, parallelism: 16))
    let key = Cryptography.scrypt(Array("password".utf8), salt: Array("NaCl".utf8), cost: cost)
    #expect(key == bytes("fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"))
    // It takes a gigabyte, for seconds.
    guard Thoroughness.isFull else { return }
    let largest = try #require(PasswordCost(roundsLog2: 18, blockSize: 32, parallelism: 1))
    #expect(Cryptography.scrypt([], salt: [], cost: largest) != nil)
  }

  @Test("Sealed bytes open with the same key and label only, and unaltered")
  func sealedBytes() throws {
    let key = [UInt8](repeating: 0, count: 32)
    // The test case 14 of the specification of GCM.
    let known =
      bytes("\(String(repeating: "00", count: 12))cea7403d4d606b6e074ec5d3baf39d18")
      + bytes("d0d1c8a799996bf0265b98b5d48ab919")
    #expect(
      Cryptography.opened(known, key: key, authenticating: "") == Array(repeating: 0, count: 16)
    )
    for text in [[], [1], Array(repeating: 7, count: 10_000)] as [[UInt8]] {
      let sealed = try #require(Cryptography.sealed(text, key: key, authenticating: "label"))
      #expect(Cryptography.opened(sealed, key: key, authenticating: "label") == text)
      #expect(Cryptography.opened(sealed, key: key, authenticating: "Label") == nil)
      #expect(Cryptography.opened(sealed, key: key.map { ~$0 }, authenticating: "label") == nil)
      #expect(Cryptography.opened(sealed.dropLast(), key: key, authenticating: "label") == nil)
      for position in [0, 12, sealed.count - 1] {
        var altered = sealed
        altered[position] ^= 1
        #expect(Cryptography.opened(altered, key: key, authenticating: "label") == nil)
      }
    }
    for count in 0..<28 {
      let short = Array(known.prefix(count))
      #expect(Cryptography.opened(short, key: key, authenticating: "") == nil, "\(count) bytes")
    }
  }

  @Test("Keys and signatures of P-256 are those of RFC 6979")
  func signatures() throws {
    let secret = bytes("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721")
    let key = try #require(P256Key(privateBytes: secret))
    #expect(key.privateBytes == secret)
    #expect(
      key.publicBytes == bytes("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6")
        + bytes("7903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299")
    )
    let sample = Array("sample".utf8)
    let signature =
      bytes("efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716")
      + bytes("f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8")
    #expect(key.isSigned(sample, by: signature))
    #expect(!key.isSigned(sample + [0], by: signature))
    for altered in [
      [], signature.dropLast(), signature + [0], signature.map { _ in 0 },
      signature.map { _ in 0xFF },
    ] as [[UInt8]] {
      #expect(!key.isSigned(sample, by: altered))
    }
  }

  @Test("A new key signs, and survives being stored", arguments: 1...50)
  func newKeys(round: Int) throws {
    let key = try P256Key()
    let message = Array("message \(round)".utf8)
    let signature = try #require(key.signature(of: message))
    let stored = try #require(P256Key(privateBytes: key.privateBytes))
    #expect(stored.publicBytes == key.publicBytes)
    #expect(stored.isSigned(message, by: signature))
    #expect(try !P256Key().isSigned(message, by: signature))
  }

  @Test("Bytes that are not a private key are refused")
  func refusedKeys() {
    let order = bytes("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551")
    #expect(P256Key(privateBytes: order) == nil)
    #expect(P256Key(privateBytes: Array(repeating: 0, count: 32)) == nil)
    #expect(P256Key(privateBytes: Array(repeating: 0xFF, count: 32)) == nil)
    for count in [0, 31, 33] {
      #expect(P256Key(privateBytes: Array(repeating: 1, count: count)) == nil)
    }
    #expect(P256Key(privateBytes: Array(order.dropLast()) + [0x50]) != nil)
  }

  /// Handlers of `exit` run in reverse order, while other threads still use the library.
  @Test("The library keeps its memory while the process exits")
  func exit() async {
    await #expect(processExitsWith: .exitCode(7)) {
      atexit { _exit(OPENSSL_init_crypto(0, nil) == 1 ? 7 : 8) }
      _ = Cryptography.sha256([])
      Glibc.exit(0)
    }
  }

  /// The bytes of a text in hexadecimal digits.
  private func bytes(_ text: String) -> [UInt8] {
    var rest = Substring(text)
    var bytes: [UInt8] = []
    while !rest.isEmpty {
      bytes.append(UInt8(rest.prefix(2), radix: 16) ?? 0)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}
