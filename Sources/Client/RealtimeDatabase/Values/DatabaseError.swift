public import Foundation
package import RealtimeCore

/// The reason why the database did not carry out a request.
public struct DatabaseError: Error, Hashable, Sendable {
  /// The kind of failure, in the protocol's terms.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The protocol's name for this kind.
    public let description: String

    /// The security rules deny access.
    public static let permissionDenied = Code("permission_denied")
    /// The server cannot do it at the moment.
    public static let unavailable = Code("unavailable")
    /// The write was discarded before it was acknowledged.
    public static let writeCanceled = Code("write_canceled")
    /// The connection was lost before the answer; it is unknown whether the write was applied.
    public static let disconnected = Code("disconnect")
    /// The transaction was tried too many times while other clients changed the data.
    public static let maximumRetries = Code("maxretry")
    /// A later write to the same location stopped the transaction.
    public static let overriddenBySet = Code("set")
    /// The data, the path or the query is invalid.
    public static let invalidData = Code("invalid_data")
    /// No answer arrived in time.
    public static let timedOut = Code("timed_out")
    /// A buffer is full.
    public static let overflow = Code("overflow")
    /// Another process, or another database in this one, uses the same file.
    public static let persistenceInUse = Code("persistence_in_use")
    /// The file on disk was damaged; it was set aside, and none of its data is used.
    public static let persistenceDamaged = Code("persistence_damaged")
    /// Data cannot be stored on disk.
    public static let persistenceUnavailable = Code("persistence_unavailable")
    /// Anything else.
    public static let failure = Code("failure")

    init(_ description: String) {
      self.description = description
    }
  }

  /// The kind of failure.
  public let code: Code
  /// The location, with a leading slash, or nil if the error concerns none.
  public let path: String?
  /// The server's reason, or a description of the problem.
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
    case .disconnect: "The connection was lost before the response arrived"
    case .maximumRetries: "The transaction was retried too often because the data kept changing"
    case .overriddenBySet: "A later write at the same path stopped the transaction"
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
  /// The original's domain, by which programs that cast to `NSError` recognize the errors.
  public static var errorDomain: String { "com.firebase" }

  /// The original's number for this kind of failure: 1 for `permission_denied`, 2 for
  /// `unavailable`, 3 for `write_canceled`, and 9999 for all others.
  public var errorCode: Int {
    switch code {
    case .permissionDenied: 1
    case .unavailable: 2
    case .writeCanceled: 3
    default: 9_999
    }
  }

  /// The reason, which becomes `localizedDescription`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
}

extension DatabaseError: LocalizedError {
  /// The reason, which becomes `localizedDescription`.
  public var errorDescription: String? { reason }
}
