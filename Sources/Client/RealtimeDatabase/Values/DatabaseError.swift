public import Foundation
package import RealtimeCore

/// A reason why the database did not do what it was asked.
public struct DatabaseError: Error, Hashable, Sendable {
  /// The kind of failure, in the words of the protocol.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The word.
    public let description: String

    /// The security rules do not allow it.
    public static let permissionDenied = Code("permission_denied")
    /// The server cannot do it now.
    public static let unavailable = Code("unavailable")
    /// The write was given up before it was acknowledged.
    public static let writeCanceled = Code("write_canceled")
    /// The connection was lost before the answer came; whether the write was applied is not known.
    public static let disconnected = Code("disconnect")
    /// A transaction was tried too often while others changed the data.
    public static let maximumRetries = Code("maxretry")
    /// A later write to the same location stopped the transaction.
    public static let overriddenBySet = Code("set")
    /// The data, the path or the query are not legal.
    public static let invalidData = Code("invalid_data")
    /// No answer came in time.
    public static let timedOut = Code("timed_out")
    /// More was waiting than may wait.
    public static let overflow = Code("overflow")
    /// Another process, or another database of this one, keeps its data in the same file.
    public static let persistenceInUse = Code("persistence_in_use")
    /// The file of the data on disk was damaged; it was set aside, and nothing of it is used.
    public static let persistenceDamaged = Code("persistence_damaged")
    /// Data cannot be kept on disk.
    public static let persistenceUnavailable = Code("persistence_unavailable")
    /// Anything else.
    public static let failure = Code("failure")

    init(_ description: String) {
      self.description = description
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The location, with a leading slash, or nil when it concerns none.
  public let path: String?
  /// What the server said, or what is wrong.
  public let reason: String

  /// Makes an error.
  public init(_ code: Code, path: String? = nil, reason: String) {
    self.code = code
    self.path = path
    self.reason = reason
  }

  package init(_ status: StatusCode, path: String?, reason: String) {
    self.init(Code(status.text), path: path, reason: reason.isEmpty ? Self.text(status) : reason)
  }

  private static func text(_ status: StatusCode) -> String {
    switch status {
    case .permissionDenied: "Permission denied"
    case .unavailable: "The service is unavailable"
    case .writeCanceled: "The write was canceled"
    case .disconnect: "The connection was lost before the answer came"
    case .maximumRetries: "The transaction was tried too often while others changed the data"
    case .overriddenBySet: "A later write on the same place stopped the transaction"
    default: status.text
    }
  }
}

extension DatabaseError: CustomStringConvertible {
  /// The reason with the location and the kind.
  public var description: String {
    path.map { "\(reason) (\(code) at \($0))" } ?? "\(reason) (\(code))"
  }
}

extension DatabaseError: CustomNSError {
  /// The domain of the original, by which programs that cast to `NSError` know the errors.
  public static var errorDomain: String { "com.firebase" }

  /// The number that the original gives this kind of failure: 1 for `permission_denied`, 2 for
  /// `unavailable`, 3 for `write_canceled`, and 9999 for those that have none.
  public var errorCode: Int {
    switch code {
    case .permissionDenied: 1
    case .unavailable: 2
    case .writeCanceled: 3
    default: 9_999
    }
  }

  /// The reason, as `localizedDescription` gives it.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
}

extension DatabaseError: LocalizedError {
  /// The reason, as `localizedDescription` gives it.
  public var errorDescription: String? { reason }
}
