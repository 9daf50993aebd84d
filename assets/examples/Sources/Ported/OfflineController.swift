import Firebase

/// An app that goes on without a connection, and tells whether there is one.
final class OfflineController: Controller {
  private(set) var isConnected = false
  private(set) var scores: [Int] = []
  private(set) var canceled = 0
  private(set) var arranged = 0

  private let scoresRef: DatabaseReference

  override init() {
    Database.database().isPersistenceEnabled = true
    scoresRef = Database.database().reference(withPath: "scores")
    super.init()
    scoresRef.keepSynced(true)
  }

  override func viewDidLoad() {
    let connectedRef = Database.database().reference(withPath: ".info/connected")
    connectedRef.observe(
      .value,
      with: { snapshot in
        self.isConnected = snapshot.value as? Bool ?? false
        self.reloadData()
      }
    )
    scoresRef.queryOrderedByValue().queryLimited(toLast: 4).observe(.childAdded) { snapshot in
      self.scores.append(snapshot.value as? Int ?? 0)
      self.reloadData()
    }
  }

  func add(_ score: Int) {
    scoresRef.childByAutoId().setValue(score) { (error: Error?, _: DatabaseReference) in
      guard let error = error as NSError? else { return }
      // The number of the original for a write that was given up.
      if error.domain == "com.firebase", error.code == 3 { self.canceled += 1 }
      self.reloadData()
    }
  }

  /// Has the server note when this program was last seen.
  func arrangeGoodbye(uid: String) {
    let lastOnlineRef = Database.database().reference(withPath: "users/\(uid)/lastOnline")
    lastOnlineRef.onDisconnectSetValue(ServerValue.timestamp()) { error, _ in
      if error == nil { self.arranged += 1 }
      self.reloadData()
    }
    Database.database().reference(withPath: "users/\(uid)/connections").onDisconnectRemoveValue {
      error,
      reference in
      if let error = error {
        print("Could not establish onDisconnect event: \(error)")
      } else {
        self.arranged += 1
      }
      self.reloadData()
    }
  }

  func goOffline() { Database.database().goOffline() }
  func goOnline() { Database.database().goOnline() }
  func giveUp() { Database.database().purgeOutstandingWrites() }
}
