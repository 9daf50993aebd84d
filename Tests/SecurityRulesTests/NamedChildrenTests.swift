import RealtimeCore
import RealtimeServer
import Testing

/// Named children are looked up together in packed nodes, and one by one in others.
@Suite("Children named in rules")
struct NamedChildrenTests {
  private static let source = """
    {"rules": {"posts": {
      ".write": "auth != null && newData.child('open').val() === true",
      "$post": {
        ".write": "auth != null && newData.child('uid').val() === auth.uid
          && (!data.exists() || data.child('uid').val() === newData.child('uid').val())",
        ".validate": "newData.hasChildren(['uid', 'count'])
          && (newData.child('count').val() === data.child('count').val()
            || newData.child('count').val() === (data.hasChild('count') ? data.child('count').val() : 0) + 1)
          && !newData.hasChild('secret')",
        "uid": {".validate": "newData.isString() && newData.parent().child('count').isNumber()"},
        "count": {".validate": "newData.isNumber() && newData.val() >= 0"},
        "tags": {"$tag": {".validate": "newData.val() === true"}},
        "blob": {".validate": "newData.isString()"},
        "$other": {".validate": false}
      }
    }}}
    """

  private static let posts = [
    "null", #"{"uid":"ann","count":0}"#, #"{"uid":"ann","count":1}"#, #"{"uid":"bob","count":1}"#,
    #"{"uid":"ann","count":1,"tags":{"a":true,"b":true}}"#,
    #"{"uid":"ann","count":1,"tags":{"a":true,"b":false}}"#, #"{"uid":"ann"}"#,
    #"{"uid":"ann","count":1,"zebra":1}"#, #"{"uid":"ann","count":1,"aardvark":1}"#,
    #"{"uid":"ann","count":1,"secret":1}"#, #"{"uid":"ann","count":"1"}"#, #"{"uid":7,"count":1}"#,
    #"{"count":2,"uid":"ann"}"#, "true",
  ]

  private let ann = RuleSubject(.object(("uid", .string("ann"))))

  /// A post, and the same post with so much text that it is not packed.
  private static func versions(_ json: String) throws -> (packed: Node, large: Node) {
    let post = try Node(parsing: json)
    let text = Node.string(String(repeating: "text", count: 1_000))
    return (post, post.children == nil ? post : post.setting("blob" as ChildKey, to: text))
  }

  @Test("evaluate the same whether packed or not")
  func packedOrNot() throws {
    let rules = try RuleSet(source: Self.source)
    var outcomes: [Bool: Int] = [:]
    for (old, new) in Self.posts.flatMap({ old in Self.posts.map { (old, $0) } }) {
      let (before, after) = (try Self.versions(old), try Self.versions(new))
      let allowed = [
        (before.packed, after.packed), (before.large, after.packed), (before.packed, after.large),
        (before.large, after.large),
      ].map { old, new in
        let root = Node.empty.setting("posts/other" as Path, to: .integer(1))
          .setting("posts/a" as Path, to: old)
        let changed = root.setting("posts/a" as Path, to: new)
        return rules.canWrite(["posts/a"], by: ann, now: 0, from: root, to: changed)
          .isAllowed
      }
      #expect(Set(allowed).count == 1, "\(old) becomes \(new)")
      outcomes[allowed[0], default: 0] += 1
    }
    #expect(outcomes[true, default: 0] > 10 && outcomes[false, default: 0] > 10)
  }

  @Test("are looked up again for each path of an update, in any order")
  func severalPlaces() throws {
    let rules = try RuleSet(source: Self.source)
    let valid = try Node(parsing: Self.posts[2])
    let wrong = try Node(parsing: Self.posts[3])
    for isOpen in [false, true] {
      let root = Node.empty.setting("posts/open" as Path, to: .bool(isOpen))
      for (first, second) in [(valid, valid), (valid, wrong), (wrong, valid)] {
        let changed = root.setting("posts/a" as Path, to: first)
          .setting("posts/b" as Path, to: second)
        let places: [Path] = ["posts/a", "posts/b"]
        for paths in [places, places.reversed()] {
          let decision = rules.canWrite(paths, by: ann, now: 0, from: root, to: changed)
          // The rule for all posts depends on their data alone, which begins at 0 or 1.
          #expect(decision.isAllowed == (isOpen || first == second), "\(paths) \(isOpen)")
        }
      }
    }
  }

  @Test("can be checked together with names known only at run time", arguments: [false, true])
  func computed(isPacked: Bool) throws {
    let rules = try RuleSet(
      source: """
        {"rules": {"a": {".write": "newData.hasChildren(['x', auth.uid, 'y']) && newData.hasChildren(['y', 'x'])"}}}
        """
    )
    for (text, isAllowed) in [
      (#"{"x":1,"ann":1,"y":1}"#, true), (#"{"x":1,"y":1}"#, false), (#"{"x":1,"ann":1}"#, false),
      (#"{"ann":1,"y":1}"#, false), ("1", false),
    ] {
      var node = try Node(parsing: text)
      if !isPacked { node.update(at: ".priority", to: .integer(1)) }
      let changed = Node.empty.setting("a" as Path, to: node)
      let decision = rules.canWrite(["a"], by: ann, now: 0, from: .empty, to: changed)
      #expect(decision.isAllowed == isAllowed, "\(text)")
    }
  }

  @Test("can be numerous", arguments: [1, 15, 16, 17, 40])
  func many(count: Int) throws {
    let names = (0..<count).map { "name\($0)" }
    let rules = try RuleSet(
      source: """
        {"rules": {"a": {".write": "newData.hasChildren([\(names.map { "'\($0)'" }.joined(separator: ", "))])",
        \(names.map { "\"\($0)\": {\".validate\": \"newData.val() === '\($0)'\"}" }.joined(separator: ", ")),
        "$other": {".validate": false}}}}
        """
    )
    for missing in Set([-1, 0, count / 2, count - 1]) {
      for wrong in Set([-1, count / 3, count - 1]).subtracting([missing]).union([-1]) {
        var node = Node.empty
        for (number, name) in names.enumerated() where number != missing {
          node.update(at: Path([ChildKey(name)]), to: .string(number == wrong ? "x" : name))
        }
        let changed = Node.empty.setting("a" as Path, to: node)
        let decision = rules.canWrite(["a"], by: .nobody, now: 0, from: .empty, to: changed)
        #expect(decision.isAllowed == (missing < 0 && wrong < 0), "\(missing) \(wrong)")
      }
    }
  }
}
