internal import RealtimeHub
internal import RealtimeTransport

/// Why a server cannot start, or why it has ended by itself.
public struct DatabaseServerError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable {
    /// Another server listens at the address.
    case addressInUse
    /// The server cannot listen at the address.
    case addressUnusable
    /// Another server has the data.
    case storeLocked
    /// The place of the data cannot be used, or what is there is no database or is damaged.
    case storeUnusable
    /// The data cannot be read or written now.
    case storeFailed
    /// The security rules have a mistake.
    case invalidRules
    /// The certificate or its key cannot be used.
    case certificateUnusable
    /// The options contradict themselves.
    case invalidOptions
    /// Anything else.
    case failed
  }

  /// The kind of failure.
  public let kind: Kind
  /// What is wrong and what to do.
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
