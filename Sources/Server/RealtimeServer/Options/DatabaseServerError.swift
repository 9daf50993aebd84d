public import Foundation
internal import RealtimeTransport

// Safety: every stored property is an immutable `Sendable` value, and so are the values of `userInfo`.
/// Why a server cannot start, or why it ended without being told to.
///
/// It is an `NSError`, because on Linux `catch let error as NSError` works with no other type.
public final class DatabaseServerError: NSError, @unchecked Sendable {
  /// The kind of failure.
  public enum Kind: Int, Sendable {
    /// Another server listens at the address.
    case addressInUse
    /// The server cannot listen at the address.
    case addressUnusable
    /// Another server has the data open.
    case storeLocked
    /// The data's location cannot be used, or what it holds is not a database or is damaged.
    case storeUnusable
    /// The data cannot be read or written at the moment.
    case storeFailed
    case invalidRules
    case certificateUnusable
    case invalidOptions
    /// Anything else.
    case failed
  }

  /// The kind of failure; `code` is its number.
  public let kind: Kind

  init(_ kind: Kind, description: String) {
    self.kind = kind
    super.init(
      domain: "DatabaseServerError",
      code: kind.rawValue,
      userInfo: [NSLocalizedDescriptionKey: description]
    )
  }

  static func invalid(_ description: String) -> DatabaseServerError {
    DatabaseServerError(.invalidOptions, description: description)
  }

  convenience init(_ error: any Error) {
    let kind: Kind =
      switch error {
      case let error as DatabaseServerError: error.kind
      case is ServerCertificateError: .certificateUnusable
      case let error as ListenError: error.kind == .inUse ? .addressInUse : .addressUnusable
      case let error as StoreError: Kind(error.kind)
      default: .failed
      }
    self.init(kind, description: "\(error)")
  }

  /// Returns nil: only `NSError` itself can be read from an archive.
  public required init?(coder: NSCoder) { nil }

  /// What is wrong, and what to do about it.
  public override var description: String { localizedDescription }
}

extension DatabaseServerError.Kind {
  fileprivate init(_ kind: StoreError.Kind) {
    self =
      switch kind {
      case .locked: .storeLocked
      case .notWritable, .damaged: .storeUnusable
      case .missing, .full, .busy, .superseded, .outdated, .unreachable, .failed: .storeFailed
      }
  }
}
