package import RealtimeTransport

/// How a database connects, how long it waits, and where it stores data.
public struct DatabaseOptions: Sendable {
  /// The longest pause between attempts to connect; less than 10 ms counts as 10 ms.
  public var maximumReconnectDelay: Duration = .seconds(30)
  /// How long a read waits for an answer before it falls back to local data, and fails if there is
  /// none; nil means forever.
  ///
  /// Unless this is set, a read waits only three seconds of that time for a connection, as in the
  /// original.
  public var readDeadline: Duration? = .seconds(10) {
    didSet { readConnectionDeadline = readDeadline }
  }
  /// How long a read waits for a connection.
  package private(set) var readConnectionDeadline: Duration? = .seconds(3)
  /// How long the `async` form of a write waits for the server before it throws; nil means forever.
  ///
  /// A write that is not acknowledged in time stays queued and may still be applied.
  public var writeDeadline: Duration? = .seconds(60)
  /// How often a transaction is sent before it fails with `maxretry` because others were faster.
  public var transactionTries = 25
  /// The longest pause before a transaction's third try; it doubles with each later try.
  ///
  /// The second try follows at once. The pauses are random, so that programs that change the same
  /// data get out of each other's way, and never longer than a second.
  public var transactionRetryDelay: Duration = .milliseconds(20)
  /// Provides the tokens; nil means the `Auth` for the database's address, if there is one.
  public var tokenProvider: (any DatabaseTokenProvider)?
  /// The user to act as on a server's private socket, which requires no proof of identity.
  package var localUser: String?
  /// The trusted certificate authorities, for URLs that require encryption.
  public var trustRoots = TrustRoots.system
  /// How long an otherwise idle connection may be silent before the client asks the server for a
  /// sign of life.
  package var keepaliveInterval: Duration = .seconds(45)
  /// How long a server may leave all requests unanswered before the client gives up on it, even if
  /// data still arrives.
  package var patience: Duration = .seconds(10)
  /// The endpoints to connect to instead of a host, by the value of the Host header.
  package var detours: [String: ConnectionTarget.Endpoint] = [:]
  /// Called before each connection attempt, on a separate thread; the attempt waits for its return.
  ///
  /// It may, for example, start the server.
  public var willConnect: (@Sendable () -> Void)?

  /// The directory of the database's file, used with ``Database/isPersistenceEnabled``.
  ///
  /// Nil means `realtime-database` in `$XDG_STATE_HOME`, or in `~/.local/state` if that is not set.
  /// The directory is created for its owner only, and has one file for each server and database
  /// name.
  public var persistenceDirectory: String?
  /// What the database's file is named after; nil for the server and the name of the database.
  package var persistenceIdentity: String?
  /// Receives the reasons why data is not kept on disk; runs on ``Database/callbackQueue``.
  ///
  /// In all cases the database continues in memory. The kinds are
  /// ``DatabaseError/Kind/persistenceInUse`` when another process uses the file,
  /// ``DatabaseError/Kind/persistenceDamaged`` when the file was damaged and has been renamed, and
  /// ``DatabaseError/Kind/persistenceUnavailable`` when it cannot be opened or written. If the disk
  /// is full, the changes that could not be written are retried with the next change. After any
  /// other error, nothing more is written to the file until another process opens it.
  public var onPersistenceProblem: (@Sendable (DatabaseError) -> Void)?

  /// The certificate authorities that a database trusts.
  public enum TrustRoots: Hashable, Sendable {
    /// The authorities that the system trusts.
    case system
    /// The authorities in a PEM file, and no others, not even the system's.
    case file(String)
  }

  /// The time in milliseconds since 1970; replaces the machine's clock.
  package var clock: (@Sendable () -> Int64)?
  /// The random digits of keys, each below 64; replaces the random number generator.
  package var keyDigits: (@Sendable () -> UInt8)?

  /// Makes the default options.
  public init() {}
}

extension DatabaseOptions.TrustRoots {
  /// The authorities in the form that the transport takes.
  package var ofTransport: RealtimeTransport.TrustRoots {
    switch self {
    case .system: .system
    case .file(let path): .file(path)
    }
  }
}
