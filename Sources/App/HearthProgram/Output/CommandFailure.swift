package import ArgumentParser
import BlogModel
import DurableFiles
import Foundation
import RealtimeAuth
import RealtimeDatabase
import RealtimeServer
import RealtimeTransport

/// The exit statuses of the program; README and `hearth --help` document the numbers.
package enum ExitStatus: Int32 {
  case ok = 0
  case failed = 1
  /// The command line, the input or the terminal cannot be used.
  case usage = 2
  case notFound = 3
  case notPermitted = 4
  /// The database cannot be reached, or did not answer in time.
  case offline = 5
  /// Others changed the same data too often in the meantime.
  case conflict = 6
  /// Everything was done, but the result cannot be printed.
  case unprinted = 7
  /// A bug in the program.
  case internalError = 70

  /// The status as ArgumentParser throws it.
  package var exitCode: ExitCode { ExitCode(rawValue) }
}

/// A failure that ends a command: a message for stderr and an exit status.
package struct CommandFailure: Error, CustomStringConvertible {
  package let status: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}

extension CommandFailure {
  /// The failure to read a file, with the system's reason.
  static func unreadable(_ path: String, _ code: Int32) -> CommandFailure {
    CommandFailure(.usage, "\(path) cannot be read: \(reason(code, at: path))")
  }

  /// The failure to write a file, with the system's reason.
  static func unwritable(_ path: String, _ code: Int32, _ status: ExitStatus) -> CommandFailure {
    CommandFailure(status, "\(path) cannot be written: \(reason(code, at: path))")
  }

  private static func reason(_ code: Int32, at path: String) -> String {
    var status = stat()
    switch code {
    case EBADF: return "it is closed"
    case ENXIO where stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO:
      return "nobody reads it"
    case ENXIO where status.st_mode & S_IFMT == S_IFSOCK: return "it is a socket"
    case _: return String(cString: strerror(code))
    }
  }

  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as BlogError:
      self.init(Self.status(error), Self.clause(error.description))
    case let error as DatabaseError: self.init(Self.status(error), Self.message(error))
    case let error as Author.NameError: self.init(.usage, error.description)
    case let error as DatabaseURLError: self.init(.usage, error.description)
    case let error as DatabaseServerError:
      self.init(Self.status(error), error.description)
    case let error as StoreError: self.init(Self.status(error), error.description)
    case let error as AuthError:
      self.init(ExitStatus(error), Self.clause(error.message))
    case let error as FileFailure: self.init(.failed, "\(error.action): \(error.reason)")
    default: self.init(.failed, String(describing: error))
    }
  }

  /// A sentence of a screen in the style of commands: without capital letter and period.
  private static func clause(_ sentence: String) -> String {
    let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    guard !text.contains(". "), let first = text.first, text.dropFirst().first?.isLowercase == true
    else { return sentence }
    return first.lowercased() + text.dropFirst()
  }

  private static func status(_ error: BlogError) -> ExitStatus {
    switch error {
    case .notFound, .commentNotFound, .unknownPerson: .notFound
    case .unreadable: .failed
    case .notMine: .notPermitted
    case .invalidText, .oneself: .usage
    case .conflict: .conflict
    }
  }

  private static func status(_ error: DatabaseError) -> ExitStatus {
    switch error.kind {
    case .permissionDenied: .notPermitted
    case .invalidData: .usage
    case .maximumRetries, .overriddenBySet: .conflict
    case .timedOut, .disconnected, .unavailable: .offline
    default: .failed
    }
  }

  private static func status(_ error: DatabaseServerError) -> ExitStatus {
    switch error.kind {
    case .addressInUse, .storeLocked, .storeFailed, .failed: .failed
    case .addressUnusable, .storeUnusable, .invalidRules, .invalidOptions, .certificateUnusable:
      .usage
    }
  }

  private static func status(_ error: StoreError) -> ExitStatus {
    switch error.kind {
    case .locked, .full, .busy, .superseded, .outdated, .failed: .failed
    case .notWritable, .damaged: .usage
    case .missing: .notFound
    case .unreachable: .offline
    }
  }

  private static func message(_ error: DatabaseError) -> String {
    error.path.map { "\(error.reason) (at \($0))" } ?? error.reason
  }
}

extension ExitStatus {
  init(_ error: AuthError) {
    self = Self.signInFailures[error.kind] ?? .failed
  }

  private static let signInFailures: [AuthErrorCode: ExitStatus] = [
    .networkError: .offline,
    .invalidEmail: .usage, .weakPassword: .usage, .missingEmail: .usage, .invalidAPIKey: .usage,
    .userNotFound: .notFound,
    .emailAlreadyInUse: .conflict, .credentialAlreadyInUse: .conflict,
    .providerAlreadyLinked: .conflict,
    .invalidCredential: .notPermitted, .wrongPassword: .notPermitted, .userDisabled: .notPermitted,
    .tooManyRequests: .notPermitted, .operationNotAllowed: .notPermitted,
    .adminRestrictedOperation: .notPermitted, .requiresRecentLogin: .notPermitted,
    .invalidUserToken: .notPermitted, .userTokenExpired: .notPermitted,
    .invalidCustomToken: .notPermitted, .customTokenMismatch: .notPermitted,
    .expiredActionCode: .notPermitted, .invalidActionCode: .notPermitted,
    .appNotAuthorized: .notPermitted, .userMismatch: .notPermitted, .nullUser: .notPermitted,
  ]
}
