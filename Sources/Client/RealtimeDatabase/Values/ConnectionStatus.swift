public import struct Foundation.Date

/// The state of a database's connection, and the number of writes that wait for it.
public struct ConnectionStatus: Hashable, Sendable {
  /// The phase of the connection.
  public enum Phase: Hashable, Sendable {
    /// An attempt is under way; `isFirst` is true until a server has answered for the first time.
    case connecting(isFirst: Bool)
    /// The server has answered.
    case connected
    /// The next attempt starts in this many seconds.
    case waiting(seconds: Int)
    /// The database does not connect, for example after ``Database/goOffline()``.
    case closed
  }

  /// Why there is no connection, as far as is known.
  public struct Problem: Hashable, Sendable {
    /// The kinds of problems.
    public enum Cause: Hashable, Sendable {
      /// The server cannot be reached, does not answer, or the connection broke.
      case network
      /// The server refuses all connections, or those of this client.
      case refused
      /// The issuer of the tokens no longer accepts this user or project.
      case signInRefused
      /// Something other than a database server answered.
      case notADatabaseServer
      /// The connection ended because one side violated the protocol.
      case protocolViolation
      /// The server cannot prove its identity: no trusted authority has signed its certificate.
      case untrustedCertificate
      /// The server's certificate is for another name.
      case wrongHostName
      /// The server's certificate has expired or is not valid yet.
      case certificateOutOfDate
      /// The URL requires encryption, but the server does not encrypt.
      case notEncrypted
      /// The connection cannot be encrypted for another reason.
      case encryptionFailed
      /// The file of ``DatabaseOptions/trustRoots`` cannot be used.
      case unusableTrustRoots
    }

    /// The summary when a server does not answer.
    package static let noAnswer = "no answer"

    /// The kind of problem.
    public var cause: Cause
    /// What happened, in a sentence that names the address where that matters.
    public var reason: String
    /// The bare reason in a few words, such as `connection refused`; nil unless the server could
    /// not be reached or did not answer.
    public var summary: String?
    /// The address that was tried, such as `blog.example.org:9000`; nil if `summary` is nil.
    public var address: String?
    /// Whether retrying cannot help until something changes.
    ///
    /// True if the server is not a database server, rejects the client or its user, or cannot be
    /// trusted. The database retries anyway.
    public var isPermanent: Bool
  }

  /// The phase of the connection.
  public var phase: Phase
  /// The server's address, such as `blog.example.org:9000`, or the path of its socket.
  public var address: String
  /// Why the last connection ended or could not be made; nil while connected.
  public var problem: Problem?
  /// The start of a silence in which the server answered no request and sent no greeting.
  ///
  /// Nil until the silence has lasted three seconds. The connection is closed after ten.
  public var silentSince: Date?
  /// The number of unacknowledged writes, including transactions.
  public var pendingWrites: Int
}
