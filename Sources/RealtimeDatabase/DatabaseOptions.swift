/// How a database connects, how long it waits, and where it keeps data.
public struct DatabaseOptions: Sendable {
  /// The longest pause between attempts to connect.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// How long a read waits for its answer before it looks for what is known here, and fails if that
  /// is nothing; nil for ever.
  public var readDeadline: Duration? = .seconds(10)
  /// How long the `async` form of a write waits for the server before it throws; nil for ever.
  ///
  /// A write that is not acknowledged in time stays queued and may still be applied.
  public var writeDeadline: Duration? = .seconds(60)
  /// How often a transaction is sent before it fails with `maxretry`, as others were always faster.
  public var transactionTries = 25
  /// The longest pause before the third try of a transaction; each one after it may be twice as long.
  ///
  /// The second try follows at once. The pauses are left to chance, so that programs that change the
  /// same data get out of each other's way, and are never longer than a second.
  public var transactionRetryDelay: Duration = .milliseconds(20)
  /// Called on a thread of its own before each attempt to connect, which waits for its end.
  ///
  /// It may start the server that is about to be connected to.
  public var willConnect: (@Sendable () -> Void)?

  /// The directory for the file of a database with ``Database/isPersistenceEnabled``.
  ///
  /// Nil is `realtime-database` in `$XDG_STATE_HOME`, or in `~/.local/state` without that. It is made
  /// for its owner only. Each server and name of a database has a file of its own there.
  public var persistenceDirectory: String?
  /// Takes the reasons why not everything is kept on disk; runs on ``Database/callbackQueue``.
  ///
  /// None of them ends the database, which goes on with what it has in memory:
  /// ``DatabaseError/Code/persistenceInUse`` when another process has the file,
  /// ``DatabaseError/Code/persistenceDamaged`` when it was damaged and has been renamed, and
  /// ``DatabaseError/Code/persistenceUnavailable`` when it cannot be opened or written; what could
  /// not be written is then tried again with the next change.
  public var onPersistenceProblem: (@Sendable (DatabaseError) -> Void)?

  /// Makes the default options.
  public init() {}
}
