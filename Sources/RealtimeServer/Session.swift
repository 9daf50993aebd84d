internal import RealtimeTransport

/// One open connection of a server.
struct Session {
  let connection: ServerConnection
  /// The name that the client was told.
  let name: String
  /// Messages taken since the last batch was stored.
  var unsettledMessages = 0
  /// Whether the client has to wait until the next batch is stored.
  var isPaused = false

  /// Messages after which a client has to wait for the next batch.
  static let unsettledLimit = 1_000

  /// A new name: 32 letters and digits that nobody can guess.
  static func makeName() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(
      (0..<32).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] }
    )
  }

  private static let letters = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
  )
}
