/// How a database connects, and how long it waits.
public struct DatabaseOptions: Sendable {
  /// The longest pause between attempts to connect.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// How long a read waits for its answer before it fails; nil for ever.
  public var readDeadline: Duration? = .seconds(10)
  /// How long the `async` form of a write waits for the server before it throws; nil for ever.
  ///
  /// A write that is not acknowledged in time stays queued and may still be applied.
  public var writeDeadline: Duration? = .seconds(60)
  /// Called on a thread of its own before each attempt to connect, which waits for its end.
  ///
  /// It may start the server that is about to be connected to.
  public var willConnect: (@Sendable () -> Void)?

  /// Makes the default options.
  public init() {}
}
