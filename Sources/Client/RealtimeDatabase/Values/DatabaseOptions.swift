package import RealtimeTransport

/// How a database connects, how long it waits, and where it keeps data.
public struct DatabaseOptions: Sendable {
  /// The longest pause between attempts to connect.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// How long a read waits for its answer before it looks for what is known here, and fails if that
  /// is nothing; nil waits forever.
  ///
  /// Unless it is set, a read waits three seconds of these for a connection, as in the original.
  public var readDeadline: Duration? = .seconds(10) {
    didSet { readConnectionDeadline = readDeadline }
  }
  /// How long a read waits for a connection.
  package private(set) var readConnectionDeadline: Duration? = .seconds(3)
  /// How long the `async` form of a write waits for the server before it throws; nil waits forever.
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
  /// Says who uses the database; nil is the `Auth` for the address of the database, if there is one.
  public var tokenProvider: (any DatabaseTokenProvider)?
  /// Which user to be at a server's private socket, where the server asks no proof of it.
  package var localUser: String?
  /// Whose certificates are believed, where the URL of the database demands encryption.
  public var trustRoots = TrustRoots.system
  /// How long a connection that nothing is asked of may be silent before the server is asked for a
  /// sign of life.
  package var keepaliveInterval: Duration = .seconds(45)
  /// How long a server may leave everything unanswered that it was asked before it is given up,
  /// although data may still arrive.
  package var patience: Duration = .seconds(10)
  /// Where the connections to a host really go, by the value of the Host header.
  package var detours: [String: ConnectionTarget.Endpoint] = [:]
  /// Called on a thread of its own before each attempt to connect, which waits for its end.
  ///
  /// It may start the server that is about to be connected to.
  public var willConnect: (@Sendable () -> Void)?

  /// The directory for the file of a database with ``Database/isPersistenceEnabled``.
  ///
  /// Nil means `realtime-database` in `$XDG_STATE_HOME`, or in `~/.local/state` if that is not set. It
  /// is created for its owner only, with one file for each server and database name.
  public var persistenceDirectory: String?
  /// Receives the reasons why not everything is kept on disk; runs on ``Database/callbackQueue``.
  ///
  /// None of them ends the database, which continues in memory:
  /// ``DatabaseError/Code/persistenceInUse`` when another process has the file,
  /// ``DatabaseError/Code/persistenceDamaged`` when it was damaged and has been renamed, and
  /// ``DatabaseError/Code/persistenceUnavailable`` when it cannot be opened or written. If the disk
  /// is full, what could not be written is tried again with the next change. After any other error
  /// nothing is written to the file any more until the next process opens it.
  public var onPersistenceProblem: (@Sendable (DatabaseError) -> Void)?

  /// The authorities whose certificates a database believes.
  public enum TrustRoots: Hashable, Sendable {
    /// Those that the system trusts.
    case system
    /// Those of a PEM file, and no others, not even the system's.
    case file(String)
  }

  /// The time in milliseconds since 1970, in place of the clock of this machine.
  package var clock: (@Sendable () -> Int64)?
  /// The random digits of keys, each below 64, in place of truly random ones.
  package var keyDigits: (@Sendable () -> UInt8)?

  /// Makes the default options.
  public init() {}
}

extension DatabaseOptions {
  /// The authorities, as connections take them.
  package var trust: RealtimeTransport.TrustRoots {
    switch trustRoots {
    case .system: .system
    case .file(let path): .file(path)
    }
  }
}
