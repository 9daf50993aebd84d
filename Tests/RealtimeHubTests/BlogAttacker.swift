import Foundation
import RealtimeCore
import RealtimeServer
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

  static let post = #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":0}"#
  static let starred =
    #"{"uid":"alice","author":"Alice","title":"T","body":"B","starCount":1,"stars":{"carol":true}}"#
  static let world = """
    {"users":{"alice":{"username":"Alice"},"bob":{"username":"Bob"},"carol":{"username":"Carol"}},
     "posts":{"p":\(post),"s":\(starred)},
     "user-posts":{"alice":{"p":\(post),"s":\(starred)}},
     "post-comments":{"p":{"c":{"uid":"bob","author":"Bob","text":"hi"},
                           "r":{"uid":"alice","author":"Alice","text":"so","parent":"c"},
                           "q":{"uid":"bob","author":"Bob","text":"no","parent":"r"}},
                      "s":{"d":{"uid":"carol","author":"Carol","text":"ho"}}},
     "presence":{"alice":{"t1":{"name":"Alice","terminal":"tty","since":1}},
                 "bob":{"t1":{"name":"Bob","terminal":"tty","since":1}}},
     "reading":{"alice":{"t1":"p"},"bob":{"t1":""}},
     "typing":{"p":{"bob":{"name":"Bob","at":1}},"s":{"carol":{"name":"Carol","at":1}}},
     "deleted":{"\(gonePost)":{"\(gonePost)":"alice"},"p":{"\(goneComment)":"bob"}},
     "replies":{"bob":{"r":"p","alice~r":{"key":"r","post":"p"},
                       "carol~z":{"key":"z","post":"p"}}},
     "mentions":{"nick":{"r":"p","s":"s","z":"p","alice~p":{"key":"p","post":"p"},
                         "alice~r":{"key":"r","post":"p"},"carol~z":{"key":"z","post":"p"}}},
     "tags":{"tea":{"p":"alice","z":"alice"}},"following":{"bob":{"alice":true}},
     "muted":{"bob":{"carol":true}},"blocked":{"alice":{"carol":true}},"bookmarks":{"bob":{"p":true}},
     "seen":{"alice":{"before":0,"stars":{"p":1}},
             "bob":{"before":0,"cleared":"c","marks":{"m001":{"post":"p","read":"c"}}}}}
    """

  let rules: String
  private let start: Dialogue

  /// Reads the rules from a file in `assets/rules`.
  init(_ name: String) throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let file = package.appendingPathComponent("assets/rules/\(name)")
    rules = try String(contentsOf: file, encoding: .utf8)
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

  /// The keys that a wildcard stands for: existing, missing and invalid ones.
  private static let keys: [String: [String]] = [
    "$uid": ["alice", "bob"], "$post": ["p", newPost],
    "$comment": ["c", "d", newComment, "r", "q", lateKey, oldKey, goneComment],
    "$key": ["p", "c", "x", goneComment],
    "$star": ["alice", "bob", "carol"], "$terminal": ["t1", "t2", "zzzz"],
    "$mark": ["m001", "m002", "zzzz"], "$other": ["x"], "$name": ["nick", "x"],
    "$place": ["r", "s", "z", "alice~r", "alice~p", "bob~c", "carol~d", "carol~z", "bob~cc"],
    "$tag": ["tea", "x"],
    "$author": ["alice", "carol", "zoe"],
  ]

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

  /// Objects that are valid at some path.
  private static let objects = [
    #"{"username":"Alice"}"#, post, #"{"uid":"bob","author":"Bob","text":"ha"}"#,
    #"{"uid":"alice","author":"Alice","text":"he"}"#,
    #"{"name":"Bob","terminal":"tty","since":1}"#, #"{"name":"Bob","at":{".sv":"timestamp"}}"#,
    #"{"before":0}"#, #"{"marks":{"m001":{"post":"p","read":false}}}"#,
    #"{"name":"Carol","terminal":"tty","since":1}"#,
    #"{"name":"Carol","at":{".sv":"timestamp"}}"#, #"{"name":"Alice","at":{".sv":"timestamp"}}"#,
    #"{"uid":"bob","author":"Bob","text":"ha","parent":"gone"}"#,
    #"{"post":"p","read":"c"}"#, #"{"carol":true}"#, #"{"bob":true}"#, #""p""#,
    #"{"uid":"bob","author":"Bob","text":"ha","parent":"c"}"#, #""alice""#, #""bob""#,
    #"{"key":"p","post":"p"}"#, #"{"key":"q","post":"p"}"#, #"{"key":"r","post":"p"}"#,
    #"{"key":"d","post":"s"}"#, #"{"key":"z","post":"p"}"#,
  ]

  private static let scalars =
    [
      "true", "false", "0", "1", "-5", "1e300", #""""#, #""x""#, #""a\u001bb""#,
      #"{".sv":"timestamp"}"#, #"{".sv":{"increment":1}}"#,
    ] + [201, 800].map { "\"\(String(repeating: "x", count: $0))\"" }

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

  private static func both(_ post: String, _ field: String, _ json: String) -> [(String, String)] {
    [("posts/\(post)/\(field)", json), ("user-posts/alice/\(post)/\(field)", json)]
  }

  private static func star(
    _ post: String,
    _ uid: String,
    _ star: String,
    _ count: String
  )
    -> [(String, String)]
  {
    both(post, "stars/\(uid)", star) + both(post, "starCount", count)
  }

  /// The updates that a blog writes.
  private static let updates: [[(String, String)]] = {
    let increment = #"{".sv":{"increment":1}}"#
    let decrement = #"{".sv":{"increment":-1}}"#
    return [
      [
        ("posts/\(newPost)", post), ("user-posts/alice/\(newPost)", post),
        ("users/alice/username", #""Alice""#),
      ],
      star("p", "bob", "true", increment), star("s", "bob", "true", increment),
      star("s", "carol", "null", decrement), star("p", "alice", "true", increment),
      both("p", "title", #""N""#) + both("p", "body", #""N""#),
      [
        ("posts/s", "null"), ("user-posts/alice/s", "null"), ("post-comments/s", "null"),
        ("deleted/s/s", #""alice""#),
      ],
      [
        ("post-comments/p/\(newComment)", #"{"uid":"bob","author":"Bob","text":"hi"}"#),
        ("users/bob/username", #""Bob""#),
      ],
      [("post-comments/p/c", "null"), ("deleted/p/c", #""bob""#)],
      [
        (
          "post-comments/p/\(newComment)",
          #"{"uid":"carol","author":"Carol","text":"@nick","parent":"c"}"#
        ),
        ("users/carol/username", #""Carol""#),
        ("replies/bob/carol~1", #"{"key":"\#(newComment)","post":"p"}"#),
        ("mentions/nick/carol~1", #"{"key":"\#(newComment)","post":"p"}"#),
      ],
      both("p", "title", #""N""#) + both("p", "body", #""a #tea for @nick""#)
        + [("tags/tea/p", #""alice""#), ("mentions/nick/alice~p", #"{"key":"p","post":"p"}"#)],
      [("seen/bob/before", #"{".sv":"timestamp"}"#), ("seen/bob/marks", "null")],
    ]
  }()

  private static let swaps = [
    "null", "true", "false", "0", "1", "2", "5", "-1", #""x""#, #"{"carol":true}"#, #"{"x":1}"#,
    #"{".sv":{"increment":1}}"#, #"{".sv":{"increment":2}}"#, #"{".sv":{"increment":-1}}"#,
  ]

  /// Replacements of keys and people throughout an update.
  private static let renamings: [(String, String)] = {
    let parent = #""parent":"c""#
    let replacements: [(String, [String])] = [
      (newPost, ["zzzz", lateKey, oldKey, gonePost]),
      (newComment, ["zzzz", lateKey, oldKey, goneComment]),
      (parent, ["gone", "r", "d", newComment].map { parent.replacing("c\"", with: $0 + "\"") }),
      ("carol~1", ["bob~1", "carol~1~1", "carol~11", "carol1", newComment]),
      ("replies/bob", ["replies/alice"]), ("deleted/s/s", ["deleted/p/p"]),
      ("deleted/p/c", ["deleted/p/d"]),
    ]
    return replacements.flatMap { old, all in all.map { (old, $0) } }
  }()

  private static let additions: [(String, String)] = [
    ("posts/s/stars/carol", "null"), ("posts/p/stars/dave", "true"), ("posts/p/starCount", "5"),
    ("posts/p/title", #""Defaced""#), ("posts/p/.priority", "1"), ("posts/p/title/.priority", "1"),
    ("users/alice/username", #""Other""#), ("user-posts/alice/p/body", #""Defaced""#),
    ("posts/s", "null"), ("user-posts/alice/s/stars/carol", "null"),
    ("deleted/p/p", #""alice""#), ("deleted/\(gonePost)/\(gonePost)", "null"),
    ("deleted/p/\(goneComment)", "null"),
  ]

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
