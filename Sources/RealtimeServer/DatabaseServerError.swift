internal import RealtimeHub
internal import RealtimeTransport

/// A reason why a server cannot start.
public struct DatabaseServerError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure.
  public enum Kind: Sendable {
    /// Another server listens at the address.
    case addressInUse
    /// The server cannot listen at the address.
    case addressUnusable
    /// Another server has the data.
    case storeLocked
    /// The data cannot be read or written.
    case storeFailed
    /// The options contradict themselves.
    case invalidOptions
    /// Anything else.
    case failed
  }

  /// The kind of failure.
  public let kind: Kind
  /// What is wrong and what to do.
  public let description: String

  init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  init(_ error: any Error) {
    switch error {
    case let error as DatabaseServerError: self = error
    case let error as ListenError:
      self.init(error.kind == .inUse ? .addressInUse : .addressUnusable, error.description)
    case let error as StoreError:
      self.init(error.kind == .locked ? .storeLocked : .storeFailed, error.description)
    case let error: self.init(.failed, "\(error)")
    }
  }
}
