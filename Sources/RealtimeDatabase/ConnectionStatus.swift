/// How a database is connected, and what waits for it.
public struct ConnectionStatus: Hashable, Sendable {
  /// How far the connection is.
  public enum Phase: Hashable, Sendable {
    /// An attempt is under way; "first" until a server has answered once.
    case connecting(isFirst: Bool)
    /// The server answers.
    case connected
    /// The next attempt starts in so many seconds.
    case waiting(seconds: Int)
    /// There is a reason not to connect, such as ``Database/goOffline()``.
    case closed
  }

  /// Why there is no connection, as far as it is known.
  public struct Problem: Hashable, Sendable {
    /// What happened, in a sentence.
    public var reason: String
    /// Whether trying again cannot help: what answers is no database server, or refuses.
    public var isPermanent: Bool
  }

  /// How far the connection is.
  public var phase: Phase
  /// Why the last connection ended or could not be made; nil while connected.
  public var problem: Problem?
  /// How many writes, transactions among them, are not yet acknowledged.
  public var pendingWrites: Int
}
