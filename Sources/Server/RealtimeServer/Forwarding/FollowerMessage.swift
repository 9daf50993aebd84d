/// What the leader of a database sends to a follower, in this order: where the stream begins, then
/// every batch once it is durable, and marks in between.
///
/// Each is a message of an exchange over the link between the two, and begins with a letter.
enum FollowerMessage {
  /// The stream has every commit after this one, in the history that the leader read.
  case beginning(revision: Int64, lineage: String?)
  /// Commits in order, all of which are durable.
  case commits([Commit])
  /// The rules that apply to the commits that follow.
  case rules(source: String)
  /// Everything that was acknowledged before the leader received this number has been sent.
  case mark(Int)

  /// Parses a message; nil if it is none.
  init?(_ bytes: [UInt8]) {
    let rest = bytes.dropFirst()
    let text: () -> String = { String(decoding: rest, as: UTF8.self) }
    switch bytes.first {
    case Self.beginningLetter:
      let parts = text().split(separator: " ", maxSplits: 1)
      guard let revision = parts.first.flatMap({ Int64($0) }) else { return nil }
      self = .beginning(revision: revision, lineage: parts.count > 1 ? String(parts[1]) : nil)
    case Self.commitsLetter:
      guard let colon = rest.firstIndex(of: 0x3A),
        let revision = Int64(String(decoding: rest[..<colon], as: UTF8.self)),
        let commits = try? BatchCoding.decode(Array(rest[(colon + 1)...]), revision: revision)
      else { return nil }
      self = .commits(commits)
    case Self.rulesLetter: self = .rules(source: text())
    case Self.markLetter:
      guard let number = Int(text()) else { return nil }
      self = .mark(number)
    case _: return nil
    }
  }

  /// The message in the form in which it is sent, unless its commits hold data that no store can.
  func encoded() throws(StoreError) -> [UInt8] {
    switch self {
    case .beginning(let revision, let lineage):
      let rest = lineage.map { " \($0)" } ?? ""
      return [Self.beginningLetter] + Array("\(revision)\(rest)".utf8)
    case .commits(let commits):
      let head = [Self.commitsLetter] + Array("\(commits.last?.revision ?? 0):".utf8)
      return head + (try BatchCoding.encode(commits))
    case .rules(let source): return [Self.rulesLetter] + Array(source.utf8)
    case .mark(let number): return [Self.markLetter] + Array("\(number)".utf8)
    }
  }

  private static let beginningLetter = UInt8(ascii: "b")
  private static let commitsLetter = UInt8(ascii: "c")
  private static let rulesLetter = UInt8(ascii: "r")
  private static let markLetter = UInt8(ascii: "m")
}
