package import RealtimeCore

/// Why a request about identities is refused, as clients are told.
package struct IdentityError: Error, Hashable, Sendable {
  /// The status of the answer.
  package let status: Int
  /// The code, such as `EMAIL_EXISTS`.
  package let code: String
  /// More about it, for people.
  package let detail: String?

  /// Makes an error.
  package init(_ code: String, _ detail: String? = nil, status: Int = 400) {
    self.status = status
    self.code = code
    self.detail = detail
  }

  /// The body of the answer.
  package var json: JSONValue {
    let message = JSONValue.string(detail.map { "\(code) : \($0)" } ?? code)
    var members = [
      JSONMember("code", .integer(Int64(status))),
      JSONMember("message", message),
      JSONMember(
        "errors",
        .array([
          .object(("message", message), ("reason", .string(reason)), ("domain", .string("global")))
        ])
      ),
    ]
    if let name { members.append(JSONMember("status", .string(name))) }
    return .object(("error", .object(members)))
  }

  private var reason: String {
    switch status {
    case 401, 403: "forbidden"
    case 404: "notFound"
    case 503: "backendError"
    default: "invalid"
    }
  }

  private var name: String? {
    switch status {
    case 401: "UNAUTHENTICATED"
    case 403: "PERMISSION_DENIED"
    case 404: "NOT_FOUND"
    case 503: "UNAVAILABLE"
    default: nil
    }
  }

  // MARK: Errors

  /// The body is longer than one may be.
  package static let bodyTooLong = IdentityError(
    "REQUEST_TOO_LARGE",
    "The body is too long.",
    status: 413
  )
  static let busy = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    "The server is busy.",
    status: 503
  )
  static let tooManyAttempts = IdentityError(
    "TOO_MANY_ATTEMPTS_TRY_LATER",
    "Too many unsuccessful attempts. Try again later."
  )
  static let weakPassword = IdentityError(
    "WEAK_PASSWORD",
    "Password should be at least \(Password.minimumLength) characters"
  )
  static let longPassword = IdentityError(
    "INVALID_PASSWORD",
    "Password should be at most \(Password.maximumBytes) bytes"
  )
  static let invalidCredentials = IdentityError("INVALID_LOGIN_CREDENTIALS")
  static let tooOld = IdentityError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN")
  static let failed = IdentityError("INTERNAL_ERROR", status: 500)
  static let unknownOutcome = IdentityError(
    "INTERNAL_ERROR",
    "The disk does not work; it is not known whether this was stored.",
    status: 500
  )
  static let forbidden = IdentityError(
    "PERMISSION_DENIED",
    "Only administrators may do this.",
    status: 403
  )
  static let notFound = IdentityError("NOT_FOUND", "There is no such method.", status: 404)
}
