public import Foundation
package import RealtimeCore

// Safety: every stored property is an immutable `Sendable` value, and so are the values of `userInfo`.
/// The reason why the database did not carry out a request.
///
/// It is an `NSError`, because Swift on Linux bridges no other type in `catch let error as NSError`
/// and `as? NSError`: the first ends in undefined behavior, the second is nil.
public final class DatabaseError: NSError, @unchecked Sendable {
  /// The kind of failure, in the protocol's terms.
  public struct Kind: Hashable, Sendable, CustomStringConvertible {
    /// The protocol's name for this kind.
    public let description: String

    /// The security rules deny access.
    public static let permissionDenied = Kind("permission_denied")
    /// The server cannot do it at the moment.
    public static let unavailable = Kind("unavailable")
    /// The write was discarded before it was acknowledged.
    public static let writeCanceled = Kind("write_canceled")
    /// The connection was lost before the answer; it is unknown whether the write was applied.
    public static let disconnected = Kind("disconnect")
    /// The transaction was tried too many times while other clients changed the data.
    public static let maximumRetries = Kind("maxretry")
    /// A later write to the same location stopped the transaction.
    public static let overriddenBySet = Kind("set")
    /// The data, the path or the query is invalid.
    public static let invalidData = Kind("invalid_data")
    /// The data is larger than the server accepts.
    public static let tooBig = Kind("too_big")
    /// No answer arrived in time.
    public static let timedOut = Kind("timed_out")
    /// A buffer is full.
    public static let overflow = Kind("overflow")
    /// Another process, or another database in this one, uses the same file.
    public static let persistenceInUse = Kind("persistence_in_use")
    /// The file on disk was damaged; it was set aside, and none of its data is used.
    public static let persistenceDamaged = Kind("persistence_damaged")
    /// Data cannot be stored on disk.
    public static let persistenceUnavailable = Kind("persistence_unavailable")
    /// The task was cancelled that waited for the answer; a write may still be applied.
    public static let cancelled = Kind("cancelled")
    /// Anything else.
    public static let failure = Kind("failure")

    init(_ description: String) {
      self.description = description
    }
  }

  /// The original's domain, by which programs that look at an `NSError` recognize the errors.
  public static let errorDomain = "com.firebase"

  /// The kind of failure.
  public let kind: Kind
  /// The location, with a leading slash, or nil if the error concerns none.
  public let path: String?
  /// The server's reason, or a description of the problem.
  public let reason: String
  /// What the rules refused; nil for other failures, and where it is not known.
  package let refused: RefusedRequest?

  /// Makes an error.
  public convenience init(_ kind: Kind, path: String? = nil, reason: String) {
    self.init(kind, path: path, reason: reason, refused: nil)
  }

  private init(_ kind: Kind, path: String?, reason: String, refused: RefusedRequest?) {
    self.kind = kind
    self.path = path
    self.reason = reason
    self.refused = refused
    super.init(
      domain: Self.errorDomain,
      code: kind.number,
      userInfo: [NSLocalizedDescriptionKey: reason]
    )
  }

  convenience init(_ kind: Kind, at path: Path, reason: String) {
    self.init(kind, path: path.description, reason: reason)
  }

  /// Makes the error of a request that did not succeed.
  convenience init(_ outcome: Outcome, at path: Path) {
    let reason = outcome.reason.isEmpty ? Self.text(outcome.status) : outcome.reason
    self.init(Kind(outcome.status.text), at: path, reason: reason)
  }

  static func invalid(_ reason: String) -> DatabaseError {
    DatabaseError(.invalidData, reason: reason)
  }

  /// Returns nil: an archive holds the domain, the number and the reason alone.
  public required init?(coder: NSCoder) { nil }

  /// The error with the request that it is about, if the rules refused that.
  func naming(_ request: @autoclosure () -> RefusedRequest) -> DatabaseError {
    guard kind == .permissionDenied else { return self }
    return DatabaseError(kind, path: path, reason: reason, refused: request())
  }

  static func cancelled(at path: Path) -> DatabaseError {
    DatabaseError(.cancelled, at: path, reason: "the task was cancelled before the server answered")
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

  /// The reason with the location and the kind.
  public override var description: String {
    path.map { "\(reason) (\(kind) at \($0))" } ?? "\(reason) (\(kind))"
  }

  /// Whether both have the same kind, location and reason.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? DatabaseError else { return false }
    return kind == other.kind && path == other.path && reason == other.reason
  }

  /// Follows from what ``isEqual(_:)`` compares.
  public override var hash: Int { [kind.description, path, reason].hashValue }
}

/// A request as the rules were asked about it.
package enum RefusedRequest: Sendable {
  /// A read of a location, with a leading slash.
  case read(path: String, query: Query)
  case write(RefusedWrite)

  static func write(_ operation: WriteOperation, at path: Path) -> RefusedRequest {
    .write(RefusedWrite(operation, at: path))
  }
}

/// A write as the rules were asked about it.
package struct RefusedWrite: Sendable {
  /// The location, with a leading slash.
  package let path: String
  /// Whether the data is an update: an object of paths below the location and their new data.
  package let isUpdate: Bool
  package let data: JSONValue

  init(_ operation: WriteOperation, at path: Path) {
    self.path = path.description
    switch operation {
    case .set(let node):
      isUpdate = false
      data = node.json(.export)
    case .merge(let changes):
      isUpdate = true
      data = .object(
        changes.map { change in
          JSONMember(String(change.path.description.dropFirst()), change.node.json(.export))
        }
      )
    }
  }
}

extension DatabaseError.Kind {
  /// The original's number: 1 for `permission_denied`, 2 for `unavailable`, 3 for `write_canceled`,
  /// and 9999 for all others.
  fileprivate var number: Int {
    switch self {
    case .permissionDenied: 1
    case .unavailable: 2
    case .writeCanceled: 3
    default: 9_999
    }
  }
}
