/// The name of a server as a certificate writes it; a star stands for its first label.
struct CertificateName {
  private let text: String

  init(_ bytes: some Sequence<UInt8>) {
    text = String(decoding: Array(bytes), as: UTF8.self).lowercased()
  }

  /// Whether a host has this name.
  func covers(_ host: String) -> Bool {
    var host = host.lowercased()[...]
    if host.hasSuffix(".") { host = host.dropLast() }
    if text == host { return true }
    guard text.hasPrefix("*."), let dot = host.firstIndex(of: "."), dot > host.startIndex else {
      return false
    }
    return host[dot...] == text.dropFirst()
  }
}
