import FirebaseCore
import FirebaseDatabase

/// A list of posts: observes them, writes them, stars them and shows what went wrong.
final class PostListController: Controller {
  private(set) var posts: [String] = []
  private(set) var starCounts: [String: Int] = [:]
  private(set) var lastError: NSError?
  private(set) var messages: [String] = []

  private lazy var ref: DatabaseReference = Database.database().reference()
  private var handle: DatabaseHandle?
  private let decoder = Database.Decoder.milliseconds()

  override func viewWillAppear() {
    let recent = ref.child("posts").queryOrderedByKey().queryLimited(toLast: 100)
    handle = recent.observe(.childAdded) { snapshot in
      self.take(snapshot)
    }
    recent.observe(
      .childChanged,
      with: { [weak self] snapshot in
        self?.take(snapshot)
      }
    ) { error in
      self.show(error)
    }
    recent.observe(
      .childRemoved,
      andPreviousSiblingKeyWith: { snapshot, _ in
        self.posts.removeAll { $0 == snapshot.key }
        self.reloadData()
      }
    )
  }

  override func viewWillDisappear() {
    let recent = ref.child("posts").queryOrderedByKey().queryLimited(toLast: 100)
    if let handle = handle { recent.removeObserver(withHandle: handle) }
    recent.removeAllObservers()
    posts.removeAll()
  }

  private func take(_ snapshot: DataSnapshot) {
    if !posts.contains(snapshot.key) { posts.append(snapshot.key) }
    do {
      let post = try snapshot.data(as: Post.self, decoder: decoder)
      starCounts[snapshot.key] = post.starCount ?? 0
    } catch {
      show(error)
    }
    reloadData()
  }

  private func show(_ error: Error) {
    lastError = error as NSError
    reloadData()
  }

  /// Writes a post at two places at once.
  func write(_ title: String, uid: String, name: String) {
    guard let key = ref.child("posts").childByAutoId().key else { return }
    let post: [String: Any] = [
      "author": ["uid": uid, "name": name],
      "title": title,
      "written": ServerValue.timestamp(),
    ]
    let updates = ["/posts/\(key)": post, "/user-posts/\(uid)/\(key)/": post]
    ref.updateChildValues(updates) { (error: Error?, ref: DatabaseReference) in
      if let error = error {
        self.show(error)
      } else {
        self.messages.append("written at \(ref.description())")
        self.reloadData()
      }
    }
  }

  /// Writes a post from its model.
  func write(_ post: Post) throws {
    try ref.child("posts").childByAutoId().setValue(from: post, encoder: .milliseconds()) { error in
      self.messages.append(error == nil ? "stored" : "refused")
      self.reloadData()
    }
  }

  /// Stars a post, or takes the star back, whatever others do meanwhile.
  func toggleStar(_ key: String, uid: String) {
    let post = ref.child("posts").child(key)
    post.runTransactionBlock({ (currentData: MutableData) -> TransactionResult in
      guard var post = currentData.value as? [String: AnyObject] else {
        return TransactionResult.success(withValue: currentData)
      }
      var stars = post["stars"] as? [String: Bool] ?? [:]
      var starCount = post["starCount"] as? Int ?? 0
      if stars[uid] != nil {
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
    }) { error, committed, snapshot in
      if let error = error {
        print(error.localizedDescription)
      }
      self.messages.append("committed: \(committed)")
      if let count = snapshot?.childSnapshot(forPath: "starCount").value as? Int {
        self.messages.append("\(count) stars")
      }
      self.reloadData()
    }
  }

  /// Reads a post once.
  func read(_ key: String) {
    ref.child("posts/\(key)/title").getData(completion: { error, snapshot in
      guard error == nil else {
        print(error!.localizedDescription)
        return
      }
      self.messages.append(snapshot?.value as? String ?? "Unknown")
      self.reloadData()
    })
    ref.child("posts").child(key).observeSingleEvent(
      of: .value,
      with: { snapshot in
        let value = snapshot.value as? NSDictionary
        self.messages.append(value?["title"] as? String ?? "")
        self.reloadData()
      }
    ) { error in
      self.show(error)
    }
  }

  /// Removes a post.
  func remove(_ key: String) {
    ref.child("posts").child(key).removeValue { error, _ in
      self.messages.append(error == nil ? "removed" : "kept")
      self.reloadData()
    }
  }
}
