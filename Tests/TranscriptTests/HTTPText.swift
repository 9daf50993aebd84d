/// Parses parts of HTTP/1.1 responses.
enum HTTPText {
  struct Head: Sendable, CustomStringConvertible {
    let status: Int
    /// The values of the header lines by their names in lowercase.
    let lines: [String: [String]]

    var description: String { "\(status) \(lines)" }
  }

  struct Answer: Sendable {
    let head: Head
    let body: [UInt8]
  }

  /// The head at the start of some bytes, and its length.
  static func head(_ bytes: [UInt8]) -> (Head, Int)? {
    let end = bytes.indices.dropLast(3).first { bytes[$0...].starts(with: "\r\n\r\n".utf8) }
    guard let end else { return nil }
    let texts = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    let status = texts.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    var lines: [String: [String]] = [:]
    for text in texts.dropFirst() {
      let parts = text.split(separator: ":", maxSplits: 1)
      let value = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
      lines[parts[0].lowercased(), default: []].append(String(value))
    }
    return (Head(status: status ?? 0, lines: lines), end + 4)
  }

  /// A complete response whose head states its length, and the total length.
  static func answer(_ bytes: [UInt8], toHead isHead: Bool) -> (Answer, Int)? {
    guard let (head, start) = head(bytes) else { return nil }
    let length = isHead ? 0 : head.lines["content-length"]?.first.flatMap { Int($0) } ?? 0
    guard bytes.count >= start + length else { return nil }
    return (Answer(head: head, body: Array(bytes[start..<(start + length)])), start + length)
  }

  /// A chunk of a body, and its length including the framing; the last chunk is empty.
  static func chunk(_ bytes: [UInt8]) -> ([UInt8], Int)? {
    guard let end = bytes.firstIndex(of: 0x0A), end > 0,
      let count = Int(String(decoding: bytes[..<(end - 1)], as: UTF8.self), radix: 16),
      bytes.count >= end + 1 + count + 2
    else { return nil }
    return (Array(bytes[(end + 1)..<(end + 1 + count)]), end + 1 + count + 2)
  }
}
