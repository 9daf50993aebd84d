import BlogModel
import Foundation
import RealtimeDatabase
import RealtimeServer
import TestSupport
import Testing

@Suite("Notices", .timeLimit(.minutes(1)))
struct NoticesTests {
  private static let rules = ["blog.json", "blog-transactions.json"]

  private func screen(_ server: BlogServer, _ name: String) throws -> ScreenProbe {
    let probe = try server.signedInScreen(name)
    probe.blog.request(.hearNotices(true))
    return probe
  }

  @Test(
    "list comments, replies, mentions and stars, both live and after a restart",
    arguments: rules
  )
  func list(rules: String) async throws {
    let server = try await BlogServer(shippedRules: rules)
    let alice = try screen(server, "alice")
    try await alice.wait("an empty list") { $0.noticeEntries == [] }
    let ann = try server.signedInBlog("alice")
    let bob = try server.signedInBlog("bob")
    let tea = try await ann.post(title: "Tea", body: "Come over")
    let comment = try await bob.comment(on: tea, text: "On my way")
    try await bob.perform(.star(tea, true))
    // On another user's post, somebody mentions me and answers me.
    let bread = try await bob.post(title: "Bread", body: "Ask @Alice how.")
    let mine = try await ann.comment(on: bread, text: "Like this")
    let answer = try await bob.comment(on: bread, text: "Thanks", answering: mine)
    let naming = try await bob.comment(on: bread, text: "@ALICE is right")
    // My own actions are not reported, nor is text that only resembles my name.
    try await ann.perform(.star(tea, true))
    _ = try await bob.comment(on: bread, text: "mail alice@alice or @alicia")
    // One sender has a place for each last letter of a key, so that a mention replaces an earlier one
    // whose key ends alike, as one pair in sixty-four does.
    let isReplaced = bread.last == naming.last
    let mentions = isReplaced ? [naming] : [naming, bread]
    let expected = Set([comment, "stars " + tea, answer] + mentions)
    try await alice.wait("all of them") { Set(($0.noticeEntries ?? []).map(\.id)) == expected }
    let entries = Dictionary((alice.noticeEntries ?? []).map { ($0.id, $0) }) { $1 }
    #expect(entries[comment]?.kind == .comment)
    #expect(entries[comment]?.title == "Tea")
    #expect(entries[answer]?.kind == .reply)
    #expect(entries[answer]?.title == "Bread")
    #expect(entries[answer]?.text == "Thanks")
    #expect(entries[bread]?.kind == (isReplaced ? nil : .mention))
    #expect(entries[bread]?.comment == nil)
    #expect(entries[naming]?.kind == .mention)
    #expect(entries["stars " + tea]?.stars == 1)
    #expect(entries.values.compactMap(\.author).allSatisfy { $0.name == "bob" })
    let later = try screen(server, "alice")
    try await later.wait("the same after a start") {
      Set(($0.noticeEntries ?? []).map(\.id)) == expected
    }
    // Newest first, by the keys of the underlying items.
    let order = [naming, answer] + mentions.dropFirst() + [comment]
    #expect((later.noticeEntries ?? []).map(\.id).filter { $0 != "stars " + tea } == order)
    let check = try await BlogCheck(reading: server.database(as: "alice").reference())
    #expect(check.faults == [])
    #expect(check.leftovers == [])
  }

  @Test("ring once per new item and not for earlier ones")
  func ringing() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let ann = try server.signedInBlog("alice")
    let bob = try server.signedInBlog("bob")
    let tea = try await ann.post(title: "Tea", body: "b")
    let mine = try await ann.comment(on: tea, text: "Anyone?")
    _ = try await bob.comment(on: tea, text: "old @alice")
    let alice = try screen(server, "alice")
    try await alice.wait("the old one") { $0.noticeEntries?.count == 1 }
    // An answer on my own post that also mentions me counts once.
    _ = try await bob.comment(on: tea, text: "Me, @alice", answering: mine)
    try await alice.wait("the new one") { $0.noticeEntries?.count == 2 }
    let bread = try await bob.post(title: "Bread", body: "for @alice")
    try await alice.wait("the last one") { $0.notices.last?.post == bread }
    #expect(alice.notices.count == 2)
    #expect(alice.notices.last == .mention(bread, title: "Bread", by: bob.me))
  }

  @Test("become read on all terminals once the post or its star count is read")
  func reading() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    try await server.administer(["seen/alice/before": 1])
    let first = try screen(server, "alice")
    let second = try screen(server, "alice")
    let ann = try server.signedInBlog("alice")
    let bob = try server.signedInBlog("bob")
    let tea = try await ann.post(title: "Tea", body: "b")
    let comment = try await bob.comment(on: tea, text: "Hello")
    try await bob.perform(.star(tea, true))
    for terminal in [first, second] {
      try await terminal.wait("both unread") {
        $0.unreadNotices == [comment, "stars " + tea]
      }
    }
    first.blog.mark(.post(tea, .read(lastComment: comment)))
    try await second.wait("the comment read") { $0.unreadNotices == ["stars " + tea] }
    first.blog.mark(.stars([tea: 1]))
    try await second.wait("the stars read") { $0.unreadNotices == [] }
    try await server.signedInBlog("carol").perform(.star(tea, true))
    try await second.wait("another star") { $0.unreadNotices == ["stars " + tea] }
    #expect(second.refusals.isEmpty)
  }

  @Test("disappear when their post, comment or mention is removed")
  func deleting() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let alice = try screen(server, "alice")
    let bob = try server.signedInBlog("bob")
    let bread = try await bob.post(title: "Bread", body: "b")
    let comment = try await bob.comment(on: bread, text: "for @alice")
    try await alice.wait("the mention") { $0.noticeEntries?.map(\.id) == [comment] }
    try await bob.perform(.deleteComment(bread, commentID: comment))
    try await alice.wait("no mention") { $0.noticeEntries == [] }
    let naming = try await bob.post(title: "For @alice", body: "b")
    try await alice.wait("the post") { $0.noticeEntries?.map(\.id) == [naming] }
    try await bob.perform(.edit(naming, title: "For nobody", body: "b"))
    try await alice.wait("nothing again") { $0.noticeEntries == [] }
  }

  @Test("are not crowded out by one user, however much they write")
  func crowding() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let bob = try server.signedInBlog("bob")
    let carol = try server.signedInBlog("carol")
    let ann = try server.signedInBlog("alice")
    let bread = try await carol.post(title: "Bread", body: "b")
    let mine = try await ann.comment(on: bread, text: "How?")
    let naming = try await carol.comment(on: bread, text: "see @alice")
    let answer = try await carol.comment(on: bread, text: "So", answering: mine)
    var written: Set<String> = []
    for _ in 0..<100 {
      written.insert(try await bob.comment(on: bread, text: "me, @alice", answering: mine))
    }
    let alice = try screen(server, "alice")
    try await alice.wait("those of both") { [written] alice in
      let found = Set((alice.noticeEntries ?? []).map(\.id))
      return found.isSuperset(of: [naming, answer]) && !found.isDisjoint(with: written)
    }
    // A bounded number of places are bob's.
    for list in [ann.paths.mentions(of: "alice"), ann.paths.replies(to: "alice")] {
      let keys = try await list.getData().childSnapshots.map(\.key)
      #expect((1...64).contains(keys.count { $0.hasPrefix("bob~") }))
      #expect(keys.count { !$0.hasPrefix("bob~") } == 1)
    }
  }

  @Test("are cleared on all terminals, and only new ones come back")
  func clearing() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let terminals = [try screen(server, "alice"), try screen(server, "alice")]
    let ann = try server.signedInBlog("alice")
    let bob = try server.signedInBlog("bob")
    let tea = try await ann.post(title: "Tea", body: "b")
    let mine = try await ann.comment(on: tea, text: "Anyone?")
    let comment = try await bob.comment(on: tea, text: "Hello")
    let answer = try await bob.comment(on: tea, text: "Me", answering: mine)
    let naming = try await bob.post(title: "For @alice", body: "b")
    try await bob.perform(.star(tea, true))
    let expected: Set<String> = [comment, answer, naming, "stars " + tea]
    for terminal in terminals {
      try await terminal.wait("all") { Set(($0.noticeEntries ?? []).map(\.id)) == expected }
    }
    try await ann.clear(try await ann.notices().entries)
    for terminal in terminals + [try screen(server, "alice")] {
      try await terminal.wait("none") { $0.noticeEntries == [] }
    }
    #expect(try await ann.notices().entries == [])
    let later = try await bob.comment(on: naming, text: "Still for @alice")
    try await server.signedInBlog("carol").perform(.star(tea, true))
    for terminal in terminals {
      try await terminal.wait("what is new") {
        Set(($0.noticeEntries ?? []).map(\.id)) == [later, "stars " + tea]
      }
    }
    terminals[0].blog.mark(.clearNotices(upTo: later))
    terminals[0].blog.mark(.stars([tea: 2]))
    try await terminals[1].wait("none again") { $0.noticeEntries == [] }
    #expect(terminals.allSatisfy { $0.refusals.isEmpty })
  }

  @Test("of earlier versions are still listed")
  func earlierVersions() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let bob = try server.signedInBlog("bob")
    let bread = try await bob.post(title: "Bread", body: "b")
    let mine = try await server.signedInBlog("alice").comment(on: bread, text: "How?")
    let naming = try await bob.comment(on: bread, text: "see @alice")
    let answer = try await bob.comment(on: bread, text: "So", answering: mine)
    // The entries as they were written: the post, under the key of what it leads to.
    try await server.administer([
      "mentions": ["alice": [naming: bread]], "replies": ["alice": [answer: bread]],
    ])
    let later = try await bob.comment(on: bread, text: "@alice, did it help?")
    let alice = try screen(server, "alice")
    try await alice.wait("all") {
      Set(($0.noticeEntries ?? []).map(\.id)) == [naming, answer, later]
    }
    let check = try await BlogCheck(reading: server.database(as: "alice").reference())
    #expect(check.leftovers == [])
    try await bob.perform(.deletePost(bread))
    try await alice.wait("nothing") { $0.noticeEntries == [] }
  }

  @Test("leave no orphaned entries, and fsck finds those left by other programs")
  func traces() async throws {
    let server = try await BlogServer()
    let bob = try server.blog("bob")
    let alice = try server.blog("alice")
    let tea = try await alice.post(title: "Tea #green", body: "for @bob")
    let comment = try await alice.comment(on: tea, text: "and @carol")
    let answer = try await bob.comment(on: tea, text: "for me, @alice?", answering: comment)
    let screen = try server.screen("alice")
    screen.blog.request(.open(tea))
    try await screen.wait("the comments") { $0.comments(tea)?.count == 2 }
    screen.blog.perform(.edit(tea, title: "Tea #black", body: "for nobody"))
    try await screen.wait("the edit") {
      $0.all.contains(.succeeded(.edit(tea, title: "Tea #black", body: "for nobody")))
    }
    try await bob.perform(.deleteComment(tea, commentID: answer))
    try await screen.wait("the answer gone") { $0.comments(tea)?.count == 1 }
    #expect(try await server.check().faults == [])
    #expect(try await server.check().leftovers.map(\.path) == [])
    // An older program deletes a post and leaves the entries that lead to it and to its comments.
    try await server.administer([
      "posts/\(tea)": NSNull(), "user-posts/alice/\(tea)": NSNull(),
      "post-comments/\(tea)": NSNull(), "replies/bob/x": 1,
      "posts/-K": ["uid": "bob", "author": "bob", "title": "t", "body": "b", "starCount": 0],
      "user-posts/bob/-K": [
        "uid": "bob", "author": "bob", "title": "t", "body": "b", "starCount": 0,
      ],
      "post-comments/-K/-L": ["uid": "bob", "author": "bob", "text": "t", "parent": "-M"],
    ])
    let left = try await server.check()
    let place = "alice~" + comment.suffix(1)
    #expect(left.leftovers.map(\.path) == ["/mentions/carol/\(place)", "/tags/black/\(tea)"])
    #expect(left.faults.map(\.path) == ["/post-comments/-K/-L", "/replies/bob/x"])
  }

  @Test("take a bounded number of listeners, however many items there are")
  func cost() async throws {
    let server = try await BlogServer()
    var values: [String: Any] = [:]
    for number in 0..<60 {
      let id = BlogServer.key(number)
      let post: [String: Any] = [
        "uid": "alice", "author": "alice", "title": "t", "body": "b", "starCount": 0,
      ]
      values["posts/\(id)"] = post
      values["user-posts/alice/\(id)"] = post
      for comment in 0..<20 {
        let key = "-L\(1_000_000 + number)c\(100 + comment)"
        values["post-comments/\(id)/\(key)"] = [
          "uid": "bob", "author": "bob", "text": "hi @alice", "parent": "-K",
        ]
        values["mentions/alice/\(key)"] = id
        values["replies/alice/\(key)"] = id
      }
    }
    try await server.administer(values)
    let alice = try server.screen("alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 60 }
    let before = try await server.listens().now
    alice.blog.request(.hearNotices(true))
    try await alice.wait("the notices") { $0.noticeEntries != nil }
    let after = try await server.listens().now
    // My posts, the comments on twenty of them, two lists of addressed items, and twenty targets,
    // which are the same for both; and the five lists that the account keeps for itself.
    #expect(after - before <= 1 + 20 + 2 + 20 + 5)
    // Ten comments on each of twenty posts, and those on the last post that only mention me.
    #expect(alice.noticeEntries?.count == 210)
    alice.blog.request(.hearNotices(false))
    try await server.waitForListens(before, "nothing is left behind")
  }

  @Test("arrive again once a list that was refused for a while is read again")
  func refusedForAWhile() async throws {
    let server = try await BlogServer(shippedRules: "blog.json")
    let id = try await server.signedInBlog("alice").post(title: "Tea", body: "b")
    let alice = try screen(server, "alice")
    alice.blog.request(.follow(.recent))
    try await alice.wait("the list") { $0.posts(.recent)?.count == 1 && $0.noticeEntries == [] }
    try await server.put(rules: #"{"rules":{".read":false,".write":false}}"#)
    try await alice.wait("the refusal") {
      $0.all.contains { if case .feedFailed(.recent, _) = $0 { true } else { false } }
    }
    try await server.put(rules: PackageFiles.text("assets/rules/blog.json"))
    alice.blog.request(.stopFollowing(.recent))
    alice.blog.request(.follow(.recent))
    try await server.signedInBlog("bob").comment(on: id, text: "hi")
    try await alice.wait("the comment") { $0.noticeEntries?.count == 1 }
  }

  @Test("work under rules that lack replies and mentions")
  func oldRules() async throws {
    let rules =
      #"{"rules":{".read":false,"posts":{".read":true},"user-posts":{".read":true},"#
      + #""post-comments":{".read":true},"seen":{".read":true,".write":true}}}"#
    let server = try await BlogServer(rules: .source(rules))
    let post = ["uid": "alice", "author": "alice", "title": "t", "body": "b"]
    try await server.administer([
      "posts/-K1": post, "user-posts/alice/-K1": post,
      "post-comments/-K1/-L1": ["uid": "bob", "author": "bob", "text": "hi"],
    ])
    let alice = try server.screen("alice")
    alice.blog.request(.hearNotices(true))
    try await alice.wait("the comment all the same") { $0.noticeEntries?.map(\.id) == ["-L1"] }
  }
}

@Suite("Tags and mentions in text")
struct TextMarksTests {
  @Test(
    "are recognized at the start of a word",
    arguments: [
      ("#tea and @bob", ["tea"], ["bob"]),
      ("(#Tea, @BOB!) **#tea**", ["tea"], ["bob"]),
      ("a#b bob@example.org https://x.org/#top /@bob", [], []),
      ("# Heading, #1, #-, @", [], []),
      ("#größe #ŻÓŁW #日本語 @美玲", ["größe", "żółw", "日本語"], ["美玲"]),
      ("_#tea_ #well-known- #a_b", ["tea", "well-known", "a_b"], []),
      ("##tea @@bob", [], []),
      ("#e\u{301}te\u{301}", ["\u{E9}t\u{E9}"], []),
      ("#a.b #c/d #e$f #[g]", ["a", "c", "e"], []),
      ("#\u{202E}evil #a\u{200B}b", ["a"], []),
    ]
  )
  func finding(text: String, tags: [String], mentions: [String]) {
    let marks = TextMarks(of: text)
    #expect(marks.tags == tags)
    #expect(marks.mentions == mentions)
  }

  @Test("are limited in number and length")
  func bounds() {
    let many = (0..<50).map { "#tag\($0) @name\($0)" }.joined(separator: " ")
    #expect(TextMarks(of: many).tags.count == TextMarks.limit)
    #expect(TextMarks(of: many).mentions.count == TextMarks.limit)
    let long = String(repeating: "a", count: TextMarks.longest)
    #expect(TextMarks(of: "#\(long)").tags == [long])
    #expect(TextMarks(of: "#\(long)a").tags == [])
  }

  @Test("are matched by letters and digits only")
  func names() {
    #expect(TextMarks.key(ofName: "Ann Lee") == "annlee")
    #expect(TextMarks.key(ofName: "a.b/c") == "abc")
    #expect(TextMarks.key(ofName: "美玲") == "美玲")
    #expect(TextMarks.key(ofName: "!?") == nil)
    #expect(TextMarks.key(ofTag: "Tea") == "tea")
    #expect(TextMarks.key(ofTag: "#Tea") == "tea")
    #expect(TextMarks.key(ofTag: "two words") == nil)
    #expect(TextMarks.key(ofTag: "") == nil)
  }
}
