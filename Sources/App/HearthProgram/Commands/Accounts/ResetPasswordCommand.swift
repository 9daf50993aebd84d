import ArgumentParser
import RealtimeAuth
import RealtimeCore

/// Helps someone who has forgotten their password at a database elsewhere.
struct ResetPasswordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset-password",
    abstract: "Have a code sent to an address, or set a new password with that code.",
    discussion: """
      Without --code the service is asked to send a code to the address; a server of hearth sends no \
      mail, there its administrator prints one with "hearth users reset". With --code a new password \
      is asked for, or read from stdin with --password-stdin. Everybody who is signed in with the \
      old password is signed out.
      """
  )

  @Option(
    help: ArgumentHelp(
      "The email address of the account; without it, it is asked for.",
      valueName: "address"
    )
  )
  var email: String?

  @Option(help: ArgumentHelp("The code, which counts once and not for long.", valueName: "code"))
  var code: String?

  @Flag(help: "Read the new password from the first line of stdin.")
  var passwordStdin = false

  @OptionGroup var options: CommonOptions

  func validate() throws {
    if passwordStdin, code == nil {
      throw ValidationError("--password-stdin is for --code CODE, which sets the password")
    }
  }

  func run() async throws {
    let auth = try AccountDesk(options).open(uid: "")
    if let code { try await setPassword(code, auth) } else { try await sendCode(auth) }
  }

  private func sendCode(_ auth: Auth) async throws {
    let email = try email ?? PasswordInput.text("Email address")
    try await auth.sendPasswordReset(withEmail: email)
    if options.json { return Output.line(.object(("email", .string(email)))) }
    Output.line(untrusted: "if \(email) has an account there, a code is on its way to it")
    Output.line(untrusted: "hearth reset-password --code CODE then sets a new password")
  }

  private func setPassword(_ code: String, _ auth: Auth) async throws {
    // A code that does not count is found out before anybody thinks of a password.
    let owner = try await auth.verifyPasswordResetCode(code)
    if let email, email.lowercased() != owner.lowercased() {
      throw CommandFailure(.usage, "this code is not for \(email)")
    }
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput()
      : PasswordInput.fromTerminal("New password of \(owner)", isNew: true)
    try await auth.confirmPasswordReset(withCode: code, newPassword: password)
    if options.json { return Output.line(.object(("email", .string(owner)))) }
    Output.line(untrusted: "\(owner) has a new password; hearth sign-in uses it")
  }
}
