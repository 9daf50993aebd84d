import Foundation
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing

/// Writes everything everywhere: whatever a stranger may try in a blog with the rules of a file.
///
/// The paths are those that the rules name, so that a newly added rule is attacked as well.
struct BlogAttacker {
  /// How a write reaches the server.
  enum Way: CaseIterable {
    case put, update, transaction, atTheEnd, updateAtTheEnd
  }

  /// One request.
  struct Attempt: CustomStringConvertible {
    var uid: String?
    var way: Way
    var changes: [(path: String, json: String)]

    var description: String {
      let values = changes.map { "\($0.path) = \($0.json.prefix(160))" }.joined(separator: "; ")
      return "\(uid ?? "nobody") by \(way): \(values)"
    }
  }

  private static let now = PushID.timePart(1_700_000_001_234)
  /// Keys of what may be written: of the time of the test.
  static let newPost = now + "newpost00001"
  static let newComment = now + "newcomment01"
  /// Keys of what may not be written: long ago, late, and of what was deleted.
  private static let oldKey = "--------long-ago0001"
  private static let lateKey = "-zzzzzzzzzzzzzzzzzzz"
  private static let gonePost = now + "gonepost0001"
  private static let goneComment = now + "gonecomment1"

  static let world = table("The data before").joined()

  private static let names: [(name: String, text: String)] = {
    let post = #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":0}"#
    let starred = post.replacing(#"Count":0"#, with: #"Count":1,"stars":{"carol":true}"#)
    return [
      ("<post>", post), ("<starred>", starred), ("<newPost>", newPost),
      ("<newComment>", newComment), ("<oldKey>", oldKey), ("<lateKey>", lateKey),
      ("<gonePost>", gonePost), ("<goneComment>", goneComment),
    ]
  }()

  /// The sections of a table by their titles, with the names replaced.
  private static let tables: [String: [String]] = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Conversations/BlogAttacks.table")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "\n\n## ").reduce(into: [:]) { tables, section in
      let lines = section.components(separatedBy: "\n")
      tables[String(lines[0].prefix { $0 != ":" && $0 != "," })] = lines.dropFirst().map { line in
        names.reduce(SceneText.expanded(line)) { $0.replacing($1.name, with: $1.text) }
      }
    }
  }()

  /// The lines of a section, without those that are empty.
  static func table(_ title: String) -> [String] { (tables[title] ?? []).filter { !$0.isEmpty } }

  /// A line like `PATH = JSON`.
  private static func change(_ line: some StringProtocol) -> (String, String) {
    let parts = line.components(separatedBy: " = ")
    return (parts[0], parts[1])
  }

  let rules: String
  private let start: Dialogue

  /// Reads the rules from a file in `assets/rules`.
  init(_ name: String) throws {
    rules = try PackageFiles.text("assets/rules/\(name)")
    var start = try Dialogue(Self.world, rules: rules)
    before = start.hub.snapshot
    self.start = start
  }

  /// The data before any write.
  let before: Node

  /// A server with a connection of one user.
  func dialogue(as uid: String?) -> Dialogue {
    var dialogue = start
    if let uid { dialogue.signIn(uid) }
    return dialogue
  }

  /// Makes an attempt, and closes the connection if the attempt is carried out then.
  static func perform(_ attempt: Attempt, in dialogue: inout Dialogue) {
    guard let first = attempt.changes.first else { return }
    let members = attempt.changes.map { #""\#($0.path)":\#($0.json)"# }.joined(separator: ",")
    let put = #"{"p":"/\#(first.path)","d":\#(first.json)"#
    let update = #"{"p":"/","d":{\#(members)}}"#
    switch attempt.way {
    case .put: dialogue.tell(1, "p", put + "}")
    case .transaction:
      let hash = dialogue.hub.snapshot[Path(wire: "/" + first.path)].hash
      dialogue.tell(1, "p", put + #","h":"\#(hash)"}"#)
    case .update: dialogue.tell(1, "m", update)
    case .atTheEnd:
      dialogue.tell(1, "o", put + "}")
      dialogue.leave()
    case .updateAtTheEnd:
      dialogue.tell(1, "om", update)
      dialogue.leave()
    }
  }

  // MARK: Single locations

  private static let keys: [String: [String]] = table("The keys that a wildcard stands for")
    .reduce(into: [:]) { keys, line in
      let words = line.components(separatedBy: " ")
      keys[words[0]] = Array(words.dropFirst())
    }

  /// All paths that the rules name, and for each leaf one path below it.
  func locations() throws -> [String] {
    let document = try RuleSet(source: rules).json
    var found: [String] = []
    func walk(_ value: JSONValue, _ path: String) {
      let members = (value.members ?? []).filter { !$0.name.hasPrefix(".") }
      if members.isEmpty, !path.isEmpty { found.append(path + "/x") }
      for member in members {
        for key in Self.keys[member.name] ?? [member.name] {
          let location = path.isEmpty ? key : path + "/" + key
          found.append(location)
          walk(member.value, location)
        }
      }
    }
    walk(document["rules"] ?? .null, "")
    return found
  }

  private static let objects = table("Objects that are valid at some path")
  private static let scalars = table("Other values")

  /// A text that is longer than any but a body, for where long ones are accepted.
  private static let veryLong = "\"\(String(repeating: "x", count: 11_000))\""

  private static let wide =
    "{" + (0..<40).map { #""k\#($0)":1"# }.joined(separator: ",") + "}"

  /// The values to write at a path and at its priority.
  private func values(at location: String) -> [(suffix: String, json: String)] {
    var values = ["null", #"{"x":1}"#, #"{"x":{"y":{"z":"deep"}}}"#, Self.wide]
    values += Self.scalars + Self.objects
    values += ["1", "true", #""x""#].map { #"{".value":\#($0),".priority":"p"}"# }
    let current = before[Path(wire: "/" + location)]
    if !current.isEmpty { values.append(current.json(.value).text) }
    return values.map { ("", $0) } + ["1", #""p""#].map { ("/.priority", $0) }
  }

  /// Variants of an object with a priority on itself or on one of its leaves.
  private static func prioritized(_ object: String) -> [String] {
    guard object.hasPrefix("{") else { return [#"{".value":\#(object),".priority":"p"}"#] }
    let leaf = #/:(?<value>"[^"]*"|[0-9]+|true|false)/#
    let leaves = object.matches(of: leaf).map { match in
      object.replacingCharacters(
        in: match.range,
        with: #":{".value":\#(match.value),".priority":"p"}"#
      )
    }
    return leaves + [#"{".priority":"p","# + object.dropFirst()]
  }

  /// Tries every path with every value.
  ///
  /// Successful attempts are repeated in all ways and with priorities; the others use the ways in
  /// turn.
  ///
  /// - Parameters:
  ///   - uid: The user who writes.
  ///   - places: The first keys of the paths; nil for all.
  ///   - tries: Makes an attempt, and returns whether it changed anything.
  /// - Throws: `RulesError` when the rules cannot be parsed.
  func attackLocations(
    as uid: String?,
    in places: Set<Substring>? = nil,
    _ tries: (Attempt) async -> Bool
  ) async throws {
    let others = Way.allCases.dropFirst()
    let locations = try locations().filter { location in
      places.map { $0.contains(location.prefix { $0 != "/" }) } ?? true
    }
    for (place, location) in locations.enumerated() {
      for (number, value) in values(at: location).enumerated() {
        let path = location + value.suffix
        func attempt(_ way: Way, _ json: String) -> Attempt {
          Attempt(uid: uid, way: way, changes: [(path, json)])
        }
        if await tries(attempt(.put, value.json)) {
          for way in others { _ = await tries(attempt(way, value.json)) }
          for json in Self.prioritized(value.json) { _ = await tries(attempt(.put, json)) }
          if value.json.utf8.count > 800 { _ = await tries(attempt(.put, Self.veryLong)) }
        } else if (place + number) % 4 == 0 {
          let way = others[others.startIndex + (place + number) / 4 % others.count]
          _ = await tries(attempt(way, value.json))
        }
      }
    }
  }

  // MARK: Several locations

  private static let updates = (tables["The updates that a blog writes"] ?? [])
    .split(separator: "").map { $0.map { change($0) } }

  private static let swaps = table("What stands in place of a part of an update")

  /// Replacements of keys and people throughout an update.
  private static let renamings = table("Keys and people throughout an update")
    .flatMap { line in
      let parts = line.components(separatedBy: " → ")
      return parts[1].components(separatedBy: " ").map { (parts[0], $0) }
    }

  private static let additions = table("What is added to an update").map { change($0) }

  /// The whole post as others see it, with other stars and another count, at one path or both.
  private static let replacements: [[(String, String)]] = {
    let stars =
      ["", #","stars":{"bob":true}"#, #","stars":{"alice":true}"#, #","stars":{"dave":true}"#]
      + [#","stars":{"bob":true,"carol":true}"#, #","stars":{"carol":true}"#]
    return stars.flatMap { stars in
      (0...2).flatMap { count -> [[(String, String)]] in
        let json =
          #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":\#(count)\#(stars)}"#
        let places = ["posts/s", "user-posts/alice/s"].map { ($0, json) }
        return [[places[0]], [places[1]], places]
      }
    }
  }()

  /// The blog's updates by any user, and with one part left out, changed, given a priority or
  /// added.
  func combinedAttempts(as uid: String?) -> [Attempt] {
    var variants = Self.updates + Self.replacements
    for update in Self.updates {
      for index in update.indices {
        var shorter = update
        shorter.remove(at: index)
        variants.append(shorter)
        for swap in Self.swaps + Self.prioritized(update[index].1) {
          var other = update
          other[index].1 = swap
          variants.append(other)
        }
      }
      for (old, new) in Self.renamings {
        let renamed = update.map {
          (
            $0.0.replacingOccurrences(of: old, with: new),
            $0.1.replacingOccurrences(of: old, with: new)
          )
        }
        if renamed.map(\.0) != update.map(\.0) || renamed.map(\.1) != update.map(\.1) {
          variants.append(renamed)
        }
      }
      for addition in Self.additions where !update.contains(where: { $0.0 == addition.0 }) {
        variants.append(update + [addition])
      }
      for other in Self.updates {
        let known = Set(update.map(\.0))
        variants.append(update + other.filter { !known.contains($0.0) })
      }
    }
    return variants.filter { !$0.isEmpty }.flatMap { changes in
      [Way.update, .updateAtTheEnd].map { Attempt(uid: uid, way: $0, changes: changes) }
    }
  }
}
