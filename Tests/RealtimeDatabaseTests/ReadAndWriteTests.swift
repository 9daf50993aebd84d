import FirebaseDatabase
import TestSupport
import Testing

@Suite("Code from the guide to reading and writing", .timeLimit(.minutes(1)), .cleansUp)
struct ReadAndWriteTests {
  private let station: Station

  init() async throws { station = try await Station() }

  @Test("A read with a completion returns the value that was set")
  func setAndGet() async throws {
    let ref: DatabaseReference = try station.open().reference()
    // Where nothing can be awaited, the forms with blocks are chosen.
    func write() { ref.child("users").child("ann").setValue(["username": "Ann"]) }
    write()
    let names = Record<String>()
    ref.child("users/ann/username").getData(completion: { error, snapshot in
      guard error == nil else {
        names.append(error!.localizedDescription)
        return
      }
      let userName = snapshot?.value as? String ?? "Unknown"
      names.append(userName)
    })
    #expect(await names.wait(for: 1) == ["Ann"])
  }

  @Test("A nested set changes only its path")
  func nestedSet() async throws {
    let ref = try station.open().reference()
    try await ref.child("users/ann").setValue(["username": "Ann", "age": 7])
    try await ref.child("users/ann/username").setValue("Anna")
    let value = try await ref.child("users/ann").getData().value as? NSDictionary
    #expect(value?["username"] as? String == "Anna")
    #expect(value?["age"] as? Int == 7)
  }

  @Test("An async set returns without an error once the server has stored it")
  func asyncSet() async throws {
    let ref = try station.open().reference()
    do {
      try await ref.child("users").child("ann").setValue(["username": "Ann"])
    } catch {
      Issue.record("\(error)")
    }
    #expect(try await station.open().reference().child("users").getData().hasChild("ann/username"))
  }

  @Test("A value observer gets the current data and each change as dictionaries")
  func valueObserver() async throws {
    let postRef = try station.open().reference(withPath: "posts/p")
    try await postRef.setValue(["author": "ann", "starCount": 0])
    let seen = Record<[String]>()
    let refHandle = postRef.observe(
      DataEventType.value,
      with: { snapshot in
        let postDict = snapshot.value as? [String: AnyObject] ?? [:]
        let author = postDict["author"] as? String ?? ""
        let count = postDict["starCount"] as? Int ?? -1
        seen.append([author, String(count)])
      }
    )
    await seen.wait(for: 1)
    try await station.open().reference().child("posts/p/starCount").setValue(3)
    #expect(await seen.wait(for: 2) == [["ann", "0"], ["ann", "3"]])
    postRef.removeObserver(withHandle: refHandle)
  }

  @Test("observeSingleEvent delivers a dictionary once")
  func singleEvent() async throws {
    let ref = try station.open().reference()
    try await ref.child("users/ann").setValue(["username": "Ann"])
    let seen = Record<String>()
    ref.child("users").child("ann").observeSingleEvent(
      of: .value,
      with: { snapshot in
        let value = snapshot.value as? NSDictionary
        let username = value?["username"] as? String ?? ""
        seen.append(username)
      }
    ) { error in
      seen.append(error.localizedDescription)
    }
    await seen.wait(for: 1)
    try await ref.child("users/ann/username").setValue("Anna")
    _ = try await ref.getData()
    #expect(seen.elements == ["Ann"])
  }

  @Test("A multi-path update changes several paths at once")
  func multiPathUpdate() async throws {
    let ref = try station.open().reference()
    guard let key = ref.child("posts").childByAutoId().key
    else { throw Unexpected("a location with a key of its own has no key") }
    let post = ["uid": "ann", "author": "Ann", "title": "T", "body": "B"]
    let childUpdates = ["/posts/\(key)": post, "/user-posts/ann/\(key)/": post]
    func write() { ref.updateChildValues(childUpdates) }
    write()
    let stored = try await ref.getData()
    #expect(stored.childSnapshot(forPath: "posts/\(key)").value as? [String: String] == post)
    #expect(
      stored.childSnapshot(forPath: "user-posts/ann/\(key)").value as? [String: String] == post
    )
  }

  @Test("A completion block of a stored write gets the location and no error")
  func completionBlock() async throws {
    let ref = try station.open().reference()
    let answers = Record<String>()
    func write() {
      ref.child("users").child("ann").setValue(["username": "Ann"]) {
        (error: Error?, ref: DatabaseReference) in
        if let error = error {
          answers.append("not saved: \(error)")
        } else {
          answers.append(ref.key ?? "")
        }
      }
    }
    write()
    #expect(await answers.wait(for: 1) == ["ann"])
  }

  @Test("Data is gone after each of the three ways to remove it")
  func removal() async throws {
    let ref = try station.open().reference()
    try await ref.setValue(["a": 1, "b": 2, "c": 3, "d": 4])
    try await ref.child("a").removeValue()
    try await ref.child("b").setValue(nil)
    try await ref.updateChildValues(["c": NSNull()])
    #expect(try await ref.getData().value as? [String: Int] == ["d": 4])
  }

  @Test("Star transactions of two users count both and take one back")
  func starTransaction() async throws {
    let ann = try station.open().reference(withPath: "posts/p")
    let bob = try station.open().reference(withPath: "posts/p")
    try await ann.setValue(["title": "T", "starCount": 0])
    try await star(ann, as: "ann")
    try await star(bob, as: "bob")
    let both = try await ann.getData().value as? [String: AnyObject]
    #expect(both?["starCount"] as? Int == 2)
    #expect(both?["stars"] as? [String: Bool] == ["ann": true, "bob": true])
    try await star(ann, as: "ann")
    let one = try await bob.getData().value as? NSDictionary
    #expect(one?["starCount"] as? Int == 1)
    #expect(one?["stars"] as? [String: Bool] == ["bob": true])
    #expect(one?["title"] as? String == "T")
  }

  private func star(_ ref: DatabaseReference, as uid: String) async throws {
    let ends = Record<Bool>()
    ref.runTransactionBlock({ (currentData: MutableData) -> TransactionResult in
      if var post = currentData.value as? [String: AnyObject] {
        var stars: [String: Bool]
        stars = post["stars"] as? [String: Bool] ?? [:]
        var starCount = post["starCount"] as? Int ?? 0
        if let _ = stars[uid] {
          starCount -= 1
          stars.removeValue(forKey: uid)
        } else {
          starCount += 1
          stars[uid] = true
        }
        post["starCount"] = starCount as AnyObject?
        post["stars"] = stars as AnyObject?
        currentData.value = post
        return TransactionResult.success(withValue: currentData)
      }
      return TransactionResult.success(withValue: currentData)
    }) { error, committed, snapshot in
      if let error = error {
        Issue.record("\(error.localizedDescription)")
      }
      ends.append(committed)
    }
    #expect(await ends.wait(for: 1) == [true])
  }

  @Test("A transaction removes and replaces the priority of its location")
  func transactionPriority() async throws {
    let ref = try station.open().reference(withPath: "place")
    let changes: [@Sendable (MutableData) -> Void] = [
      { $0.value = 2 },
      { $0.priority = nil },
      { $0.value = [".value": 2, ".priority": NSNull()] as [String: Any] },
      { $0.value = [".value": 2, ".priority": 7] },
      { $0.priority = 7 },
    ]
    for (number, change) in changes.enumerated() {
      try await ref.setValue(2, andPriority: "before")
      let (committed, _) = try await ref.runTransactionBlock { data in
        // Runs on nothing where the data is not known yet.
        if data.value as? Int == 2 { change(data) }
        return .success(withValue: data)
      }
      let read = try await ref.getData()
      #expect(committed && read.value as? Int == 2)
      #expect(read.priority as? Int == (number < 3 ? nil : 7), "change \(number)")
      #expect(read.priority as? String == nil, "change \(number)")
    }
  }

  @Test("Server increments in a multi-path update add up")
  func increments() async throws {
    let ref = try station.open().reference()
    let updates =
      [
        "posts/p/stars/ann": true,
        "posts/p/starCount": ServerValue.increment(1),
        "user-posts/ann/p/stars/ann": true,
        "user-posts/ann/p/starCount": ServerValue.increment(1),
      ] as [String: Any]
    func write() { ref.updateChildValues(updates) }
    write()
    try await ref.updateChildValues(["posts/p/starCount": ServerValue.increment(1.5)])
    #expect(try await ref.child("posts/p/starCount").getData().value as? Double == 2.5)
    #expect(try await ref.child("user-posts/ann/p/starCount").getData().value as? Int == 1)
  }
}
