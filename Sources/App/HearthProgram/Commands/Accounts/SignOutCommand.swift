import ArgumentParser
import RealtimeAuth

/// Signs someone out of a database elsewhere.
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
    try auth.signOut()
    await auth.settle()
  }
}
