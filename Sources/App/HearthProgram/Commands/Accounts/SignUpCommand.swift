import ArgumentParser
import BlogModel

/// Makes an account at a database elsewhere.
struct SignUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign-up",
    abstract: "Make an account at a database elsewhere, and sign in to it."
  )

  @Option(help: ArgumentHelp("The email address of the account.", valueName: "address"))
  var email: String

  @Option(help: ArgumentHelp("The user name in the blog.", valueName: "name"))
  var name: String

  @Flag(help: "Read the password from the first line of stdin.")
  var passwordStdin = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let desk = try AccountDesk(options)
    let author = try Author(userName: name)
    let password =
      try passwordStdin
      ? PasswordInput.fromStandardInput()
      : PasswordInput.fromTerminal("Password for \(email)", isNew: true)
    let auth = try await desk.signUp(author, email: email, password: password)
    options.tell(auth, name: name)
  }
}
