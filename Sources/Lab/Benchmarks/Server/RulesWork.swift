import RealtimeCore
import SecurityRules

/// One write of a post that the blog's rules are asked about.
struct RulesWork {
  private let rules: RuleSet
  private let paths: [Path]
  private let before: Node
  private let after: Node
  private let subject: RuleSubject

  /// Makes a tree of posts and a write that stars one of them.
  init(_ place: Place, posts: Int) throws {
    rules = try place.blogRules()
    let number = posts / 2
    let path = BlogWire.path(number)
    var tree = try BlogTree.root(posts)
    tree.update(at: path, to: try BlogWire.post(number, by: "u1", isStarred: false))
    before = tree
    tree.update(at: path, to: try BlogWire.post(number, by: "u1", isStarred: true))
    after = tree
    paths = [path]
    subject = RuleSubject(
      .object(
        ("uid", .string("u1")),
        ("provider", .string("custom")),
        ("token", .object(("sub", .string("u1"))))
      )
    )
    guard isAllowed() else { throw LoadError("the rules forbid what the benchmark writes") }
  }

  func isAllowed() -> Bool {
    rules.canWrite(paths, by: subject, now: BlogTree.time, from: before, to: after).isAllowed
  }
}
