private import Glibc
internal import NIOSSL

/// A file of certificates or of a key in PEM, which is text between lines of dashes.
struct PEMFile {
  /// Longer than any list of authorities, and short enough to be read by mistake.
  private static let longest = 16 * 1_024 * 1_024

  private let path: String
  private let bytes: [UInt8]
  /// The permissions of the file, such as 0o600.
  private let mode: UInt32
  private let owner: UInt32

  init(_ path: String) throws(PEMFileError) {
    self.path = path
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Self.failure(path) }
    defer { Glibc.close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Self.failure(path) }
    mode = status.st_mode & 0o777
    owner = status.st_uid
    guard status.st_mode & S_IFMT != S_IFDIR else {
      throw PEMFileError(description: "\(path) is a directory")
    }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &piece, piece.count)
      guard count >= 0 else { throw Self.failure(path) }
      guard count > 0 else { break }
      bytes += piece[..<count]
      guard bytes.count <= Self.longest else {
        throw PEMFileError(description: "\(path) is too long for a file of certificates")
      }
    }
    self.bytes = bytes
  }

  private static func failure(_ path: String) -> PEMFileError {
    PEMFileError(description: "\(path): \(String(cString: strerror(errno)))")
  }

  /// Whether a file with a secret is kept as one.
  func checkPrivacy() throws(PEMFileError) {
    let allowed: UInt32 = owner == 0 ? 0o740 : 0o700
    guard mode & ~allowed == 0 else {
      throw PEMFileError(
        description: "\(path) can be read or changed by others; chmod 600 makes it private"
      )
    }
  }

  /// All certificates of the file, at least one.
  func certificates() throws(PEMFileError) -> [NIOSSLCertificate] {
    guard let certificates = try? NIOSSLCertificate.fromPEMBytes(bytes), !certificates.isEmpty
    else { throw PEMFileError(description: "\(path) holds no certificate in PEM") }
    return certificates
  }

  /// The private key of the file.
  func privateKey() throws(PEMFileError) -> NIOSSLPrivateKey {
    do {
      return try NIOSSLPrivateKey(bytes: bytes, format: .pem)
    } catch {
      throw PEMFileError(
        description: "\(path) holds no private key in PEM that can be read without a pass phrase"
      )
    }
  }
}
