/// What kind of message a hub sends, as the order of its members shows, which is always the same.
enum OutgoingKind {
  /// A push of data, which newer data can take the place of.
  case change
  /// An answer that shows data.
  case reading
  /// An acknowledgement, a refusal, the end of a listen, and all others.
  case other

  init(_ message: [UInt8]) {
    if Self.changes.contains(where: message.starts) {
      self = .change
    } else if message.starts(with: Self.answer), !Self.ends.contains(where: message.hasSuffix),
      message.containsOK
    {
      self = .reading
    } else {
      self = .other
    }
  }

  private static let answer = Array(#"{"t":"d","d":{"r":"#.utf8)
  private static let changes = ["d", "m", "rm"].map {
    Array(#"{"t":"d","d":{"a":"\#($0)","#.utf8)
  }
  /// How answers end that are acknowledgements only.
  private static let ends = [#""d":""}}}"#, #""d":{}}}}"#, #""d":{"w":["no_index"]}}}}"#].map {
    Array($0.utf8)
  }
}

extension [UInt8] {
  fileprivate func starts(with prefix: [UInt8]) -> Bool {
    count >= prefix.count && self[..<prefix.count].elementsEqual(prefix)
  }

  fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
    count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
  }

  /// Whether an answer, after its number, tells of success.
  fileprivate var containsOK: Bool {
    let mark = Array(#""b":{"s":"ok""#.utf8)
    guard
      let comma = firstIndex(of: UInt8(ascii: "r")).flatMap({ self[$0...].firstIndex(of: 0x2C) })
    else { return false }
    return self[(comma + 1)...].starts(with: mark)
  }
}
