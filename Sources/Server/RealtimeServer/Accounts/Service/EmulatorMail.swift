internal import RealtimeCore

/// A mail with a code that the emulator shows instead of sending it.
struct EmulatorMail: Sendable {
  let email: EmailAddress
  let purpose: OneTimeCode.Purpose
  let code: String

  /// Most mails that are kept.
  static let maximum = 1_000

  /// The mail as the emulator shows it.
  var json: JSONValue {
    .object(
      ("email", .string(email.text)),
      ("requestType", .string(purpose.rawValue)),
      ("oobCode", .string(code))
    )
  }
}
