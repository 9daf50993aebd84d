import Foundation
import RealtimeCore
import RealtimeServer
import Testing

/// The outcome of a stranger's writes, compared with what must be true of a blog.
private struct BlogDamage {
  let before: Node
  let after: Node
  let uid: String?
  private(set) var faults: [String] = []
  /// Whether users may put whole posts, whose stars no rule can compare.
  private let trustsPuts: Bool

  init(_ before: Node, _ after: Node, by uid: String?, trustsPuts: Bool) {
    self.before = before
    self.after = after
    self.uid = uid
    self.trustsPuts = trustsPuts
    checkValues(after, [])
    checkOwners()
    checkPosts()
    checkTruth()
  }

  private mutating func fault(_ text: String) { faults.append(text) }

  /// Checks that nothing has a priority, and that texts and numbers of keys are bounded.
  private mutating func checkValues(_ node: Node, _ keys: [String]) {
    let path = keys.joined(separator: "/")
    if node.priority != nil { fault("a priority at \(path)") }
    if case .string(let text)? = node.leafValue {
      let limit =
        switch keys.last {
        case "body": 65_536
        case "text": 10_000
        case "key", "post", "read", "parent", "cleared": 768
        case "title": 300
        default: 200
        }
      if text.utf16.count > limit { fault("\(text.utf16.count) characters at \(path)") }
    }
    let isSlot =
      switch (keys.first, keys.count) {
      case ("presence", 3), ("reading", 3):
        (try? #/[a-z][0-9]{1,2}/#.wholeMatch(in: keys[2])) != nil
      case ("seen", 4) where keys[2] == "stars":
        !after[Path(["user-posts", ChildKey(keys[1]), ChildKey(keys[3])])].isEmpty
      case ("seen", 4): (try? #/m[0-9]{3}/#.wholeMatch(in: keys[3])) != nil
      case ("seen", 3): ["before", "marks", "stars", "cleared"].contains(keys[2])
      case ("bookmarks", 3): !after[Path(["posts", ChildKey(keys[2])])].isEmpty
      case ("searches", 3): (try? #/s[0-9]{2}/#.wholeMatch(in: keys[2])) != nil
      case ("following", 3), ("muted", 3), ("blocked", 3):
        [before, after].contains { !$0[Path(["users", ChildKey(keys[2])])].isEmpty }
      case ("users", 3): keys[2] == "username"
      default: true
      }
    if !isSlot { fault("a key of one's own choice at \(path)") }
    for (key, child) in node.entries { checkValues(child, keys + [key.text]) }
  }

  /// Checks that other users' data is unchanged, unless it was deleted with the user's own post.
  private mutating func checkOwners() {
    checkTraces()
    for place in [
      "users", "presence", "reading", "seen", "following", "muted", "blocked", "bookmarks",
      "searches",
    ] {
      for owner in ["alice", "bob", "carol"] where owner != uid {
        let path = Path([ChildKey(place), ChildKey(owner)])
        if before[path] != after[path] { fault("/\(place)/\(owner) changed") }
      }
    }
    for (post, people) in before.child("typing").entries + after.child("typing").entries {
      for (person, _) in people.entries where person.text != uid && !isMyDeleted(post) {
        let path = Path(["typing", post, person])
        if before[path] != after[path] { fault("\(path) changed") }
      }
    }
    for (post, comments) in before.child("post-comments").entries
      + after.child("post-comments").entries
    {
      for (key, comment) in comments.entries where !isMyDeleted(post) {
        let path = Path(["post-comments", post, key])
        let owner = before[path].isEmpty ? comment.child("uid") : before[path].child("uid")
        if owner.leafValue != uid.map({ .string($0) }), before[path] != after[path] {
          fault("\(path) changed")
        }
      }
    }
  }

  /// Checks that an entry that leads to a post or comment is created by its author alone, at one of
  /// the author's places, and is removed only by the author or the user it notifies, unless its
  /// target is missing.
  private mutating func checkTraces() {
    for list in ["replies", "mentions", "tags"] as [ChildKey] {
      for (name, entries) in before[list].entries + after[list].entries {
        for (key, _) in entries.entries {
          let path = Path([list, name, key])
          guard before[path] != after[path] else { continue }
          let target = target(of: after[path].isEmpty ? before[path] : after[path], at: path)
          let isMyPlace = uid.map { key.text.hasPrefix($0 + "~") } ?? false
          let isMine =
            [before, after].contains { $0[target].child("uid").text == uid } || isMyPlace
            || (list == "replies" && name.text == uid && after[path].isEmpty)
          let leadsNowhere = after[path].isEmpty && after[target].isEmpty
          if !isMine, !leadsNowhere { fault("\(path) changed") }
          if after[path].isEmpty { continue }
          if after[target].isEmpty { fault("\(path) leads nowhere") }
          if list != "tags", !isMyPlace || key.text.utf8.count != (uid ?? "").utf8.count + 2 {
            fault("\(path) is no place of \(uid ?? "nobody")")
          }
        }
      }
    }
  }

  /// The post or comment that an entry leads to.
  private func target(of entry: Node, at path: Path) -> Path {
    guard let place = path.keys.last, path.first != "tags" else {
      return Path(["posts", path.keys.last ?? "?"])
    }
    let isOld = entry.leafValue != nil
    let key = isOld ? place : ChildKey(entry.child("key").text)
    let post = ChildKey(isOld ? entry.text : entry.child("post").text)
    return Path(key == post ? ["posts", key] : ["post-comments", post, key])
  }

  /// Checks that new posts and comments have automatic keys of about now, that answers have parents
  /// whose authors are told, and that people go by the names of their accounts.
  private mutating func checkTruth() {
    checkDeletions()
    for (post, _) in after.child("posts").entries where before[Path(["posts", post])].isEmpty {
      checkKey(post, on: post)
      if !before[Path(["post-comments", post])].isEmpty { fault("\(post) inherits comments") }
    }
    for (post, comments) in after.child("post-comments").entries {
      for (key, comment) in comments.entries
      where before[Path(["post-comments", post, key])].isEmpty {
        checkKey(key, on: post)
        let parent = comment.child("parent")
        let answered = before[Path(["post-comments", post, ChildKey(parent.text)])]
        if !parent.isEmpty, answered.isEmpty { fault("\(key) answers nothing") }
      }
    }
    for (name, entries) in after.child("replies").entries {
      for (key, entry) in entries.entries where before[Path(["replies", name, key])] != entry {
        let comments = after[Path(["post-comments", ChildKey(entry.child("post").text)])]
        let comment = comments[ChildKey(entry.child("key").text)]
        let answered = comments[ChildKey(comment.child("parent").text)]
        if answered.child("uid").text != name.text { fault("\(name) is told of \(key)") }
      }
    }
    for (uid, terminals) in after.child("presence").entries {
      for (key, terminal) in terminals.entries {
        checkName(terminal, of: uid, was: before[Path(["presence", uid, key])])
      }
    }
    for (post, people) in after.child("typing").entries {
      for (uid, typist) in people.entries {
        checkName(typist, of: uid, was: before[Path(["typing", post, uid])])
      }
    }
  }

  /// Checks that what is deleted takes its comments with it and leaves its key, for good, and that
  /// nobody leaves other keys.
  private mutating func checkDeletions() {
    func place(_ post: ChildKey, _ key: ChildKey) -> Path {
      Path(post == key ? ["posts", key] : ["post-comments", post, key])
    }
    for (post, keys) in before.child("deleted").entries {
      for (key, author) in keys.entries where after[Path(["deleted", post, key])] != author {
        fault("\(key) is no longer deleted")
      }
    }
    for (post, keys) in after.child("deleted").entries {
      for (key, author) in keys.entries where before[Path(["deleted", post, key])] != author {
        let uids = [author.text, before[place(post, key)].child("uid").text]
        if uids.contains(where: { $0 != uid }) { fault("\(key) is deleted by another") }
        if !after[place(post, key)].isEmpty { fault("\(key) is deleted and there") }
      }
    }
    for (post, _) in before.child("posts").entries where after[place(post, post)].isEmpty {
      if after[Path(["deleted", post, post])].isEmpty { fault("the key of \(post) is free") }
      if !after[Path(["post-comments", post])].isEmpty { fault("\(post) leaves comments") }
    }
    for (post, comments) in before.child("post-comments").entries {
      for (key, _) in comments.entries
      where after[place(post, key)].isEmpty && !after[place(post, post)].isEmpty
        && after[Path(["deleted", post, key])].isEmpty
      {
        fault("the key of \(key) is free")
      }
    }
  }

  private mutating func checkKey(_ key: ChildKey, on post: ChildKey) {
    let clock: Int64 = 1_700_000_001_234
    let day: Int64 = 86_400_000
    let time = key.text.hasPrefix("-") ? PushID.time(of: key.text) : nil
    let isAboutNow = time.map { (clock - 31 * day...clock + day / 5).contains($0) } ?? false
    if !isAboutNow { fault("\(key) is a key of one's own choice") }
    if !before[Path(["deleted", post, key])].isEmpty { fault("\(key) was deleted") }
  }

  private mutating func checkName(_ entry: Node, of uid: ChildKey, was old: Node) {
    let name = after[Path(["users", uid, "username"])]
    if entry != old, entry.child("name") != name { fault("\(uid) goes by another name") }
  }

  private func isMyDeleted(_ post: ChildKey) -> Bool {
    let path = Path(["posts", post])
    return after[path].isEmpty && before[path].child("uid").leafValue == uid.map { .string($0) }
  }

  /// Checks that counts match stars, that copies agree, and that only owners change more than a
  /// star.
  private mutating func checkPosts() {
    for (key, post) in after.child("posts").entries {
      let copy = after[Path(["user-posts", ChildKey(post.child("uid").text), key])]
      for (name, one) in [("post", post), ("copy", copy)] where !trustsPuts {
        if one.child("starCount").leafValue?.number != Double(one.child("stars").childCount) {
          fault("the \(name) \(key) counts \(one.child("starCount").json(.value).text) stars")
        }
        if one != post { fault("the copies of \(key) differ") }
      }
      for name in ["uid", "author", "title", "body"]
      where post[ChildKey(name)] != copy[ChildKey(name)] {
        fault("the copies of \(key) differ in \(name)")
      }
      let old = before[Path(["posts", key])]
      if old.child("author") != post.child("author"),
        post.child("author")
          != after[Path(["users", ChildKey(post.child("uid").text), "username"])]
      {
        fault("the author of \(key) has another name")
      }
    }
    for (key, post) in before.child("posts").entries {
      let now = after[Path(["posts", key])]
      let isMine = post.child("uid").leafValue == uid.map { .string($0) }
      if now.isEmpty, !isMine { fault("the post \(key) is gone") }
      if now.isEmpty { continue }
      for (field, _) in post.entries + now.entries
      where !isMine && field != "stars" && field != "starCount" && post[field] != now[field] {
        fault("\(field) of the post \(key) changed")
      }
      for (star, _) in post.child("stars").entries + now.child("stars").entries
      where star.text != uid && post.child("stars")[star] != now.child("stars")[star] && !trustsPuts
      {
        fault("the star of \(star) on \(key) changed")
      }
    }
    for (owner, list) in after.child("user-posts").entries {
      for (key, _) in list.entries
      where after[Path(["posts", key, "uid"])].leafValue != .string(owner.text) {
        fault("the copy \(owner)/\(key) has no post")
      }
    }
    let places = Set(after.entries.map(\.key.text)).subtracting(before.entries.map(\.key.text))
    if !places.isEmpty { fault("new places: \(places.sorted())") }
  }

  /// The kinds of changes, one per line.
  var effects: Set<String> {
    var old: [String: String] = [:]
    var new: [String: String] = [:]
    flatten(before, [], into: &old)
    flatten(after, [], into: &new)
    return Set(
      Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.map { path in
        let keys = path.split(separator: "/").map(String.init)
        return
          "\(uid == nil ? "nobody" : "somebody") \(general(keys)): \(new[path].map(kind) ?? "gone")"
      }
    )
  }

  private func flatten(_ node: Node, _ keys: [String], into found: inout [String: String]) {
    if node.leafValue != nil { found[keys.joined(separator: "/")] = node.json(.value).text }
    for (key, child) in node.entries { flatten(child, keys + [key.text], into: &found) }
  }

  private func kind(_ json: String) -> String {
    if json.hasPrefix("\"") { return "text" }
    return json == "true" || json == "false" ? json : "number"
  }

  /// A path in words that describe the keys from the writer's point of view.
  private func general(_ keys: [String]) -> String {
    let posts = before.child("posts").entries.map(\.key.text) + [BlogAttacker.newPost]
    return keys.enumerated().map { index, key in
      if key == uid { return "ME" }
      if ["alice", "bob", "carol", "dave"].contains(key) { return "ANOTHER" }
      if posts.contains(key), keys[0] != "seen" {
        let root = after[Path(["posts", ChildKey(key)])].isEmpty ? before : after
        let owner = root[Path(["posts", ChildKey(key), "uid"])].text
        return owner == uid ? "MY-POST" : "A-POST"
      }
      if ["replies", "mentions"].contains(keys[0]), index == 2, key.contains("~") {
        return key.hasPrefix("\(uid ?? "?")~") ? "MY-PLACE" : "A-PLACE"
      }
      if ["post-comments", "replies", "mentions"].contains(keys[0]), index == 2 {
        return "COMMENT"
      }
      if keys[0] == "deleted", index == 2 { return "COMMENT" }
      if ["mentions", "tags"].contains(keys[0]), index == 1 { return "NAME" }
      if ["presence", "reading"].contains(keys[0]), index == 2 { return "TERMINAL" }
      if keys[0] == "seen", index == 3 { return "MARK" }
      return key
    }.joined(separator: "/")
  }
}

extension Node {
  fileprivate var entries: [(key: ChildKey, value: Node)] { children.map { Array($0.map) } ?? [] }

  fileprivate func child(_ name: String) -> Node { self[ChildKey(name)] }

  fileprivate var text: String {
    if case .string(let text)? = leafValue { text } else { "?" }
  }
}

@Suite("Every possible write to a blog")
struct BlogRulesAttackTests {
  /// The changes that one write may make: who, where, and the kind of the new value.
  private static let allowed: Set<String> = Set(
    BlogAttacker.table("What one write may change").flatMap { line in
      let parts = line.components(separatedBy: ": ")
      return parts[1].components(separatedBy: " ").map { parts[0] + ": " + $0 }
    }
  )

  /// The changes by successful attempts.
  private struct Outcome {
    var count = 0
    var passed = 0
    var effects: Set<String> = []
    var faults: [String] = []

    mutating func add(_ attempt: BlogAttacker.Attempt, _ damage: BlogDamage) {
      passed += 1
      effects.formUnion(damage.effects)
      faults += damage.faults.map { "\($0), when \(attempt)" }
    }
  }

  private func outcome(
    _ attacker: BlogAttacker,
    as uid: String?,
    in places: Set<Substring>? = nil,
    trustsPuts: Bool = false
  ) async throws -> Outcome {
    let dialogue = attacker.dialogue(as: uid)
    let before = attacker.before
    var outcome = Outcome()
    func tries(_ attempt: BlogAttacker.Attempt) async -> Bool {
      // Lets other tests run in between.
      if outcome.count % 32 == 0 { await Task.yield() }
      var copy = dialogue
      BlogAttacker.perform(attempt, in: &copy)
      outcome.count += 1
      let after = copy.hub.snapshot
      guard after != before else { return false }
      outcome.add(attempt, BlogDamage(before, after, by: uid, trustsPuts: trustsPuts))
      return true
    }
    for attempt in attacker.combinedAttempts(as: uid) { _ = await tries(attempt) }
    if places != [] { try await attacker.attackLocations(as: uid, in: places, tries) }
    return outcome
  }

  private static let people: [String?] = ["alice", "bob", "carol", nil]

  /// What becomes of the attempts of all, who make them at the same time.
  private func outcomes(
    _ rules: String,
    in places: @escaping @Sendable (String?) -> Set<Substring>?,
    trustsPuts: Bool = false
  ) async throws -> [(uid: String?, Outcome)] {
    try await withThrowingTaskGroup(of: (uid: String?, Outcome).self) { group in
      for uid in Self.people {
        group.addTask {
          let attacker = try BlogAttacker(rules)
          let chosen = places(uid)
          return (uid, try await outcome(attacker, as: uid, in: chosen, trustsPuts: trustsPuts))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  @Test("changes only what the table of permissions allows")
  func everything() async throws {
    let outcomes = try await outcomes("blog.json", in: { $0 == "carol" ? [] : nil }).map { $0.1 }
    let faults = outcomes.flatMap(\.faults)
    #expect(faults.isEmpty, "\(faults.count), among them \(Self.sample(faults))")
    let effects = outcomes.reduce(into: Set<String>()) { $0.formUnion($1.effects) }
    #expect(effects.subtracting(Self.allowed).sorted() == [])
    // A table that allows more than happens would hide that the attacker no longer tests anything.
    #expect(Self.allowed.subtracting(effects).sorted() == [])
    #expect(outcomes.reduce(0) { $0 + $1.count } > 20_000)
  }

  @Test("counts a star once, even when repeated")
  func twice() async throws {
    let attacker = try BlogAttacker("blog.json")
    var faults: [String] = []
    for uid in Self.people {
      let attempts = attacker.combinedAttempts(as: uid).filter { $0.way == .update }
      let dialogue = attacker.dialogue(as: uid)
      for (number, attempt) in attempts.enumerated() {
        if number % 32 == 0 { await Task.yield() }
        var copy = dialogue
        BlogAttacker.perform(attempt, in: &copy)
        guard copy.hub.snapshot != attacker.before else { continue }
        BlogAttacker.perform(attempt, in: &copy)
        let damage = BlogDamage(attacker.before, copy.hub.snapshot, by: uid, trustsPuts: false)
        faults += damage.faults.map { "\($0), when twice \(attempt)" }
      }
    }
    #expect(faults.isEmpty, "\(faults.count), among them \(Self.sample(faults))")
  }

  /// The places for which the friends have rules of their own.
  private static let differing: Set<Substring> = ["posts", "user-posts"]

  @Test("finds the same rules among friends, except for posts")
  func sameRules() throws {
    let rules = try ["blog.json", "blog-transactions.json"].map { file in
      let members = try RuleSet(source: BlogAttacker(file).rules).json["rules"]?.members ?? []
      return members.filter { !Self.differing.contains($0.name[...]) }
    }
    #expect(rules[0].count > 8)
    #expect(rules[0].map(\.name) == rules[1].map(\.name))
    #expect(rules[0].map(\.value.canonicalText) == rules[1].map(\.value.canonicalText))
  }

  @Test("harms nothing but stars under the friends' rules, which allow whole-post puts")
  func amongFriends() async throws {
    let outcomes = try await outcomes(
      "blog-transactions.json",
      in: { $0 == "bob" ? Self.differing : [] },
      trustsPuts: true
    )
    for (uid, outcome) in outcomes {
      #expect(outcome.faults.isEmpty, "\(outcome.faults.count): \(Self.sample(outcome.faults))")
      #expect((outcome.passed > 0) == (uid != nil))
    }
  }

  /// The first fault of each kind.
  private static func sample(_ faults: [String]) -> [String] {
    var kinds: Set<Substring> = []
    return faults.filter { kinds.insert($0.prefix { $0 != "," }).inserted }.prefix(40).map { $0 }
  }
}
