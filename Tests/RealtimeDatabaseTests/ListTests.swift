import FirebaseDatabase
import NIOConcurrencyHelpers
import RealtimeDatabase
import TestSupport
import Testing

@Suite("Code from the guide to lists", .timeLimit(.minutes(1)), .cleansUp)
struct ListTests {
  private let station: Station

  init() async throws { station = try await Station() }

  // Differs: Keys of ``DatabaseReference/childByAutoId
  @Test("Items added offline keep their order when the clock is set back")
  func clockSetBack() async throws {
    let clock = NIOLockedValueBox<Int64>(1_700_000_000_000)
    var options = DatabaseOptions()
    options.clock = { clock.withLockedValue { $0 } }
    let database = try station.open(options)
    let list = database.reference(withPath: "list")
    database.goOffline()
    let texts = (0..<20).map(String.init)
    let answers = Record<Bool>()
    for text in texts {
      list.childByAutoId().setValue(text) { error, _ in answers.append(error == nil) }
      clock.withLockedValue { $0 -= 1_000 }
    }
    database.goOnline()
    await answers.wait(for: texts.count)
    let snapshot = try await list.getData()
    #expect(snapshot.childSnapshots.compactMap { $0.value as? String } == texts)
  }

  @Test("Children with generated keys arrive in order of creation")
  func autoIDs() async throws {
    let list = try station.open().reference(withPath: "list")
    func write() {
      for text in ["one", "two", "three"] { list.childByAutoId().setValue(text) }
    }
    write()
    let snapshot = try await list.getData()
    let texts = snapshot.children.compactMap { ($0 as? DataSnapshot)?.value as? String }
    #expect(texts == ["one", "two", "three"])
  }

  @Test("Child events report additions and removals with the previous key")
  func childEvents() async throws {
    let commentsRef = try station.open().reference().child("comments")
    let told = Record<String>()
    commentsRef.observe(
      .childAdded,
      with: { (snapshot) -> Void in
        told.append("+\(snapshot.key)")
      }
    )
    commentsRef.observe(
      .childRemoved,
      with: { (snapshot) -> Void in
        told.append("-\(snapshot.key)")
      }
    )
    commentsRef.observe(
      .childChanged,
      andPreviousSiblingKeyWith: { snapshot, previous in
        told.append("\(previous ?? "")<\(snapshot.key)=\(snapshot.value as? Int ?? 0)")
      }
    )
    try await commentsRef.updateChildValues(["a": 1, "b": 2])
    try await commentsRef.child("b").setValue(3)
    try await commentsRef.child("a").removeValue()
    #expect(await told.wait(for: 4) == ["+a", "+b", "a<b=3", "-a"])
  }

  @Test("A value event's children can be iterated")
  func walking() async throws {
    let commentsRef = try station.open().reference().child("comments")
    try await commentsRef.setValue(["x": ["text": "1"], "y": ["text": "2"]])
    let texts = Record<String>()
    commentsRef.observe(.value) { snapshot in
      for child in snapshot.children {
        let comment = (child as? DataSnapshot)?.value as? [String: Any]
        texts.append(comment?["text"] as? String ?? "")
      }
    }
    #expect(await texts.wait(for: 2) == ["1", "2"])
  }

  @Test("Children can be ordered by a nested value")
  func nestedOrder() async throws {
    let ref = try station.open().reference(withPath: "posts")
    try await ref.setValue([
      "a": ["metrics": ["views": 30]], "b": ["metrics": ["views": 4]], "c": ["other": 1],
      "d": ["metrics": ["views": 7]],
    ])
    let query = ref.queryOrdered(byChild: "metrics/views")
    #expect(try await keys(query) == ["c", "b", "d", "a"])
    #expect(try await keys(query.queryLimited(toLast: 2)) == ["d", "a"])
    #expect(try await keys(query.queryStarting(atValue: 7)) == ["d", "a"])
    #expect(try await keys(query.queryStarting(afterValue: 7)) == ["a"])
    #expect(try await keys(query.queryEnding(beforeValue: 7)) == ["c", "b"])
    #expect(try await keys(query.queryEqual(toValue: 4)) == ["b"])
  }

  @Test("Values sort as null, false, true, numbers, strings, objects, then by key")
  func documentedOrder() async throws {
    let ref = try station.open().reference(withPath: "all")
    try await ref.setValue([
      "object": ["v": ["x": 1]], "text": ["v": "b"], "text0": ["v": "a"], "two": ["v": 2],
      "half": ["v": 0.5], "minus": ["v": -3], "true": ["v": true], "false": ["v": false],
      "none": ["w": 1], "10": ["v": 2], "9": ["v": 2],
    ])
    let expected = [
      "none", "false", "true", "minus", "half", "9", "10", "two", "text0", "text", "object",
    ]
    #expect(try await keys(ref.queryOrdered(byChild: "v")) == expected)
  }

  @Test("Ranges work on keys, values and priorities, with the child key as tiebreaker")
  func ranges() async throws {
    let ref = try station.open().reference(withPath: "scores")
    for (key, value) in [("a", 5), ("b", 1), ("c", 5), ("d", 9)] {
      try await ref.child(key).setValue(value, andPriority: 10 - value)
    }
    let byKey = ref.queryOrderedByKey()
    #expect(
      try await keys(byKey.queryStarting(atValue: "b").queryEnding(atValue: "c")) == ["b", "c"]
    )
    #expect(try await keys(byKey.queryStarting(afterValue: "c")) == ["d"])
    #expect(try await keys(byKey.queryEqual(toValue: "a")) == ["a"])
    let byValue = ref.queryOrderedByValue()
    #expect(try await keys(byValue.queryLimited(toFirst: 2)) == ["b", "a"])
    #expect(try await keys(byValue.queryStarting(atValue: 5, childKey: "c")) == ["c", "d"])
    #expect(try await keys(byValue.queryStarting(afterValue: 5, childKey: "a")) == ["c", "d"])
    #expect(try await keys(byValue.queryEnding(atValue: 5, childKey: "a")) == ["b", "a"])
    #expect(try await keys(byValue.queryEnding(beforeValue: 5, childKey: "c")) == ["b", "a"])
    #expect(try await keys(byValue.queryEqual(toValue: 5, childKey: "c")) == ["c"])
    let byPriority = ref.queryOrderedByPriority()
    #expect(try await keys(byPriority) == ["d", "a", "c", "b"])
    #expect(
      try await keys(byPriority.queryStarting(atValue: 5).queryEnding(atValue: 5)) == ["a", "c"]
    )
  }

  // Differs: A single observer of several
  @Test("A limitToLast observer sees the oldest child leave when a new one arrives")
  func limits() async throws {
    let ref = try station.open().reference(withPath: "recent")
    try await ref.setValue(["a": 1, "b": 2, "c": 3])
    let recentPostsQuery = ref.queryLimited(toLast: 2)
    let told = Record<String>()
    recentPostsQuery.observe([.childAdded, .childRemoved]) { type, snapshot, _ in
      told.append((type == .childAdded ? "+" : "-") + snapshot.key)
    }
    await told.wait(for: 2)
    try await ref.child("d").setValue(4)
    #expect(await told.wait(for: 4) == ["+b", "+c", "-b", "+d"])
  }

  /// The code is that of the article on lists.
  @Test("An array maintained from child events always matches the query")
  func array() async throws {
    let posts = try station.open().reference(withPath: "posts")
    let newest = posts.queryOrdered(byChild: "stars").queryLimited(toLast: 5)
    var writes = SplitMix64(seed: Thoroughness.seed)
    let told = Record<[String]>()
    let task = Task {
      var list: [DataSnapshot] = []
      for try await event in newest.childEvents() {
        list.removeAll { $0.key == event.snapshot.key }
        switch event {
        case .childAdded(let child, let previous), .childChanged(let child, let previous),
          .childMoved(let child, let previous):
          let index = list.firstIndex { $0.key == previous }.map { $0 + 1 }
          list.insert(child, at: index ?? 0)
        case .childRemoved: break
        }
        told.append(list.map { "\($0.key) \($0.childSnapshot(forPath: "stars").value ?? "")" })
      }
    }
    for _ in 0..<200 {
      let post = posts.child("p\(Int.random(in: 0..<12, using: &writes))")
      if Int.random(in: 0..<5, using: &writes) == 0 {
        try await post.removeValue()
      } else {
        try await post.setValue(["stars": Int.random(in: 0..<9, using: &writes)])
      }
    }
    let final = try await newest.getData().childSnapshots
      .map { "\($0.key) \($0.childSnapshot(forPath: "stars").value ?? "")" }
    while told.elements.last != final { try await Task.sleep(for: .milliseconds(5)) }
    task.cancel()
  }

  @Test("No events are raised after all observers of a location are removed")
  func detaching() async throws {
    let ref = try station.open().reference(withPath: "list")
    let told = Record<String>()
    ref.observe(.childAdded) { told.append($0.key) }
    ref.queryLimited(toFirst: 1).observe(.childAdded) { told.append("first \($0.key)") }
    try await ref.child("a").setValue(1)
    await told.wait(for: 2)
    ref.removeAllObservers()
    try await ref.child("0").setValue(2)
    _ = try await ref.getData()
    #expect(Set(told.elements) == ["a", "first a"])
  }

  private func keys(_ query: DatabaseQuery) async throws -> [String] {
    let snapshot = try await query.getData()
    return snapshot.children.allObjects.compactMap { ($0 as? DataSnapshot)?.key }
  }
}
