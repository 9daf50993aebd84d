internal import RealtimeHub
internal import RealtimeTransport

/// Why a server cannot start, or why it ended without being told to.
public struct DatabaseServerError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable {
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
    /// The security rules have a mistake.
    case invalidRules
    /// The certificate or its key cannot be used.
    case certificateUnusable
    /// The options are invalid or contradict each other.
    case invalidOptions
    /// Anything else.
    case failed
  }

  /// The kind of failure.
  public let kind: Kind
  /// What is wrong, and what to do about it.
  public let description: String

  init(_ kind: Kind, description: String) {
    self.kind = kind
    self.description = description
  }

  init(_ error: any Error) {
    switch error {
    case let error as DatabaseServerError: self = error
    case let error as ServerCertificateError:
      self.init(.certificateUnusable, description: error.description)
    case let error as ListenError:
      self.init(
        error.kind == .inUse ? .addressInUse : .addressUnusable,
        description: error.description
      )
    case let error as StoreError:
      switch error.kind {
      case .locked: self.init(.storeLocked, description: error.description)
      case .notWritable, .damaged: self.init(.storeUnusable, description: error.description)
      case .full, .busy, .superseded, .failed:
        self.init(.storeFailed, description: error.description)
      }
    case let error: self.init(.failed, description: "\(error)")
    }
  }
}
