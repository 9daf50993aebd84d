import RealtimeCore
import RealtimeServer

/// Rules that compile decide every request in a bounded number of steps, and always the same way.
enum RulesCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    try check(document: input)
    guard let text = String(validating: input, as: UTF8.self) else { return }
    for member in ["\".read\"", "\".write\"", "\".validate\""] {
      let document = "{\"rules\":{\"$k\":{\(member):\(JSONValue.string(text).text)}}}"
      try check(document: Array(document.utf8))
    }
  }

  private static func check(document: [UInt8]) throws(BrokenProperty) {
    let rules: RuleSet
    do throws(RulesError) {
      rules = try RuleSet(bytes: document)
    } catch {
      let lines = document.count { $0 == 0x0A || $0 == 0x0D } + 1
      try demand((1...lines).contains(error.line), "the mistake is in line \(error.line)")
      try demand((1...(document.count + 1)).contains(error.column), "column \(error.column)")
      return
    }
    for auth in auths {
      for path in paths {
        try checkRead(rules, path, auth)
        try checkWrite(rules, path, auth)
      }
    }
  }

  private static func checkRead(
    _ rules: RuleSet,
    _ path: Path,
    _ auth: JSONValue?
  ) throws(BrokenProperty) {
    let query = path.isRoot ? Query.all : Query(index: .key, limit: Query.Limit(3, side: .last))
    let decision = rules.canRead(path, query: query, by: RuleSubject(auth), now: now, root: old)
    let told = rules.canRead(
      path,
      query: query,
      by: RuleSubject(auth),
      now: now,
      root: old,
      explaining: true
    )
    try demand(decision.isAllowed == told.isAllowed, "an explanation changes a read of \(path)")
    for query in [Query(index: .value), Query(index: .child("x"))] where !query.isDefault {
      _ = rules.isIndexed(path, by: query.index)
    }
  }

  private static func checkWrite(
    _ rules: RuleSet,
    _ path: Path,
    _ auth: JSONValue?
  ) throws(BrokenProperty) {
    let place = path.appending(ChildKey("new"))
    var new = old
    new.update(at: place, to: .leaf(.string("text")))
    let decision = rules.canWrite([place], by: RuleSubject(auth), now: now, from: old, to: new)
    let told = rules.canWrite(
      [place],
      by: RuleSubject(auth),
      now: now,
      from: old,
      to: new,
      explaining: true
    )
    try demand(decision.isAllowed == told.isAllowed, "an explanation changes a write at \(path)")
  }

  private static let now: Int64 = 1_700_000_000_000
  private static let paths: [Path] = [.root, "posts", "posts/p1/stars/ann", "users/ann"]
  private static let auths = [
    nil,
    try? JSONParser.parse(#"{"uid":"ann","provider":"custom","token":{"admin":true,"n":3}}"#),
  ]
  private static let old: Node = {
    let text = #"""
      {"posts":{"p1":{"uid":"ann","title":"aaaaaaaaaaaaaaaaaaaaaaaa!","starCount":1,"stars":{"ann":true}}},
      "users":{"ann":{"name":"Ann",".priority":2},"bob":{"name":"Bob"}},"n":5,"list":[1,2,"x"]}
      """#
    return (try? JSONParser.parse(text)).flatMap { try? Node(json: $0) } ?? .empty
  }()
}
