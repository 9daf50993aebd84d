public import struct Foundation.Date

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
    /// The kinds of reasons.
    public enum Cause: Hashable, Sendable {
      /// The server cannot be reached, does not answer, or the connection broke.
      case network
      /// The server does not let anybody in, or not this client.
      case refused
      /// The issuer of the tokens no longer accepts this user, or this project.
      case signInRefused
      /// What answers is no database server.
      case notADatabaseServer
      /// The connection ended because one of the ends broke the rules of the protocol.
      case protocolViolation
      /// The server cannot prove who it is: nobody who is trusted has signed its certificate.
      case untrustedCertificate
      /// The certificate of the server is for another name.
      case wrongHostName
      /// The certificate of the server has expired, or is not valid yet.
      case certificateOutOfDate
      /// The URL demands encryption, and the server does without.
      case notEncrypted
      /// The connection cannot be encrypted for another reason.
      case encryptionFailed
      /// The file of ``DatabaseOptions/trustRoots`` cannot be used.
      case unusableTrustRoots
    }

    /// The summary when a server does not answer.
    package static let noAnswer = "no answer"

    /// The kind of reason.
    public var cause: Cause
    /// What happened, in a sentence that names the address where that matters.
    public var reason: String
    /// The reason alone, in a few words, such as `connection refused`; nil unless the server was not
    /// reached or did not answer.
    public var summary: String?
    /// Where the server was looked for, such as `blog.example.org:9000`; nil as the summary is.
    public var address: String?
    /// Whether trying again does not help as long as nothing is changed.
    ///
    /// The server is not a database server, rejects the client, or cannot be trusted. It is tried again.
    public var isPermanent: Bool
  }

  /// How far the connection is.
  public var phase: Phase
  /// Where the server is, such as `blog.example.org:9000`, or the path of its socket.
  public var address: String
  /// Why the last connection ended or could not be made; nil while connected.
  public var problem: Problem?
  /// Since when the server has left everything unanswered that it was asked, the greeting included.
  ///
  /// Nil until that has lasted for three seconds. A connection ends after ten.
  public var silentSince: Date?
  /// How many writes, transactions among them, are not yet acknowledged.
  public var pendingWrites: Int
}
