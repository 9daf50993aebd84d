internal import RealtimeCore
internal import RealtimeTransport

/// The location in the path of a REST request.
enum RESTPath {
  private static let suffix = ".json"

  /// The location, or nil when the path does not end as REST paths do.
  ///
  /// - Throws: ``RESTError`` when an escape is malformed, or the name is one that data cannot have.
  static func location(in path: String) throws(RESTError) -> Path? {
    guard path.hasSuffix(suffix) else { return nil }
    var keys: [ChildKey] = []
    for segment in path.utf8.dropLast(suffix.utf8.count).split(separator: UInt8(ascii: "/")) {
      guard let text = HTTPRequest.unescape(String(Substring(segment))) else {
        throw RESTError(400, "Invalid path: Invalid token in path")
      }
      keys.append(ChildKey(text))
    }
    if let first = keys.first?.text, first.hasPrefix("."), keys[0] != .priority {
      throw RESTError(404, "there is nothing at /\(first) on this server")
    }
    return Path(keys)
  }
}
