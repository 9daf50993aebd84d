import BlogModel
import BlogTUI
import RealtimeAuth
import RealtimeDatabase
import RealtimeHub
import RealtimeServer

extension CommandFailure {
  /// The message and the exit status of anything that can go wrong.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as BlogError: self.init(Self.status(error), error.description)
    case let error as DatabaseError: self.init(Self.status(error), Self.message(error))
    case let error as Author.NameError: self.init(.usage, error.description)
    case let error as DatabaseServerError: self.init(Self.status(error), error.description)
    case let error as StoreError: self.init(Self.status(error), error.description)
    case let error as AuthError: self.init(ExitStatus(error), error.message)
    default: self.init(.failed, String(describing: error))
    }
  }

  private static func status(_ error: BlogError) -> ExitStatus {
    switch error {
    case .notFound, .commentNotFound: .notFound
    case .notMine: .notPermitted
    case .emptyText: .usage
    case .conflict: .conflict
    }
  }

  private static func status(_ error: DatabaseError) -> ExitStatus {
    switch error.code {
    case .permissionDenied: .notPermitted
    case .invalidData: .usage
    case .maximumRetries, .overriddenBySet: .conflict
    case .timedOut, .disconnected, .unavailable: .offline
    default: .failed
    }
  }

  private static func status(_ error: DatabaseServerError) -> ExitStatus {
    switch error.kind {
    case .addressInUse, .addressUnusable, .storeLocked, .storeFailed, .failed: .failed
    case .storeUnusable, .invalidRules, .invalidOptions, .certificateUnusable: .usage
    }
  }

  private static func status(_ error: StoreError) -> ExitStatus {
    switch error.kind {
    case .locked, .full, .busy, .failed: .failed
    case .notWritable, .damaged: .usage
    }
  }

  private static func message(_ error: DatabaseError) -> String {
    error.path.map { "\(error.reason) (at \($0))" } ?? error.reason
  }
}
