import ArgumentParser
import BlogModel
import RealtimeAuth

/// Signs someone in to a database elsewhere.
struct SignInCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-in",
    abstract: "Sign in to a database elsewhere, from now on and for all terminals.",
    discussion: """
      The password is asked for, or read from stdin with --password-stdin; it is never an argument, \
      which others could see. The credentials rest in a file that only you can read.
      """
  )

  @Option(help: ArgumentHelp("The email address of the account.", valueName: "address"))
  var email: String

  @Option(
    help: ArgumentHelp("The user name in the blog, where the account has none.", valueName: "name")
  )
  var name: String?

  @Flag(help: "Read the password from the first line of stdin.")
  var passwordStdin = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let desk = try AccountDesk(options)
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput() : PasswordInput.fromTerminal("Password of \(email)")
    let auth = try await desk.signIn(email: email, password: password)
    var known = try await desk.userName(of: auth)
    if known == nil {
      let chosen = try Author(
        userName: name ?? AccountDesk.suggestion(for: auth.currentUser)
      ).name
      try await desk.setUserName(chosen, of: auth)
      known = chosen
    }
    options.tell(auth, name: known ?? "")
  }
}
