import ArgumentParser
import BlogModel
import RealtimeAuth
import RealtimeCore

struct SignInCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-in",
    abstract: "Sign in to a database elsewhere, from now on and for all terminals.",
    discussion: """
      The password is asked for, or read from stdin with --password-stdin; it is never an argument, \
      which others could see. The credentials rest in a file that only you can read.
      """
  )

  @Option(help: "The email address of the account.".taking("address"))
  var email: String

  @Option(help: "The user name in the blog, where the account has none.".taking("name"))
  var name: String?

  @Flag(help: "Read the password from the first line of stdin.")
  var passwordStdin = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let remote = try RemoteAccounts(options)
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput() : PasswordInput.fromTerminal("Password of \(email)")
    let auth = try await remote.signIn(email: email, password: password)
    var known = try await remote.userName(of: auth)
    if known == nil {
      let chosen = try Author(
        userName: name ?? RemoteAccounts.suggestion(for: auth.currentUser)
      ).name
      try await remote.setUserName(chosen, of: auth)
      known = chosen
    }
    try options.tell(auth, name: known ?? "")
  }
}

struct SignUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-up",
    abstract: "Make an account at a database elsewhere, and sign in to it."
  )

  @Option(help: "The email address of the account.".taking("address"))
  var email: String

  @Option(help: "The user name in the blog.".taking("name"))
  var name: String

  @Flag(help: "Read the password from the first line of stdin.")
  var passwordStdin = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let remote = try RemoteAccounts(options)
    let author = try Author(userName: name)
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput()
      : PasswordInput.fromTerminal("Password for \(email)", isNew: true)
    let auth = try await remote.signUp(author, email: email, password: password)
    try options.tell(auth, name: author.name)
  }
}

struct SignOutCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-out",
    abstract: "Sign out of a database elsewhere, in all terminals: the last account, or --account."
  )

  @OptionGroup var options: CommonOptions

  func run() async throws {
    guard let auth = try options.signedIn() else {
      throw CommandFailure(.notFound, "nobody is signed in there")
    }
    let user = auth.currentUser
    try auth.signOut()
    await auth.settle()
    guard let user else { return }
    let name = user.displayName ?? user.email ?? user.uid
    try options.requireStored(false, of: user.uid, orElse: "\(name) is still signed in")
  }
}

struct ResetPasswordCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reset-password",
    abstract: "Have a code sent to an address, or set a new password with that code.",
    discussion: """
      Without --code the service is asked to send a code to the address. A server of hearth sends no \
      mail: its administrator prints a code with "hearth users reset". With --code a new password is \
      asked for, or read from stdin with --password-stdin. Everybody who is signed in with the old \
      password is signed out.
      """
  )

  @Option(help: "The email address of the account; without it, it is asked for.".taking("address"))
  var email: String?

  @Option(help: "The code, which works once and soon expires.".taking("code"))
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
    let auth = try RemoteAccounts(options).open(uid: "")
    if let code { try await setPassword(code, with: auth) } else { try await sendCode(auth) }
  }

  private func sendCode(_ auth: Auth) async throws {
    let email = try email ?? PasswordInput.text("Email address")
    try await auth.sendPasswordReset(withEmail: email)
    options.confirm(
      "if \(email) has an account there, you get a code by mail or from an administrator",
      json: .object(("email", .string(email)))
    )
    guard !options.json else { return }
    Output.done("hearth reset-password --code CODE then sets a new password", json: nil)
  }

  private func setPassword(_ code: String, with auth: Auth) async throws {
    // Checks the code before the user thinks of a password.
    let owner = try await auth.verifyPasswordResetCode(code)
    if let email, email.lowercased() != owner.lowercased() {
      throw CommandFailure(.usage, "this code is not for \(email)")
    }
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput()
      : PasswordInput.fromTerminal("New password of \(owner)", isNew: true)
    try await auth.confirmPasswordReset(withCode: code, newPassword: password)
    options.confirm(
      "\(owner) has a new password; hearth sign-in uses it",
      json: .object(("email", .string(owner)))
    )
  }
}
