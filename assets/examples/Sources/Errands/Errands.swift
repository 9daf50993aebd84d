import RealtimeDatabase

/// A list of errands that can be written without a connection and is sent when there is one.
struct Errands {
  let database: Database
  private let list: DatabaseReference

  /// Opens the list; `directory` keeps what is not sent yet, also while the program does not run.
  init(url: String, directory: String) throws {
    var options = DatabaseOptions()
    options.persistenceDirectory = directory
    // Nobody waits for a write here: it may take days to be sent.
    options.writeDeadline = nil
    database = try Database(url: url, options: options)
    // Before the first use: what an earlier run has left is sent first, in order.
    database.isPersistenceEnabled = true
    list = database.reference(withPath: "errands")
  }

  /// Adds an errand and returns as soon as it is on this machine's disk.
  ///
  /// The block is called if the server refuses the errand, which may be long afterwards.
  func add(_ text: String, refused: @escaping @Sendable (any Error) -> Void) async throws {
    // With a block, since the form without one waits for the server.
    list.childByAutoId().setValue(text) { error, _ in
      // What is not sent when the database closes is unavailable, not refused.
      guard let error, (error as? DatabaseError)?.kind != .unavailable else { return }
      refused(error)
    }
    try await database.waitUntilStored()
  }

  /// The errands that the server has, oldest first.
  func sent() async throws -> [String] {
    try await list.getData().childSnapshots.compactMap { $0.value as? String }
  }
}
