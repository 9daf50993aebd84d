import ArgumentParser
import RealtimeCore

/// Looks after the accounts of a database.
struct Users: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the accounts of the local server's databases, or change them.",
    discussion: """
      Only who may write to the data directory can do it, whether a server runs or not. An account \
      is named by its address or its identifier. What is disabled or deleted ends at once on every \
      terminal, and another password signs everyone out.
      """,
    subcommands: [
      ListAccounts.self, Add.self, Disable.self, Enable.self, Reset.self, Remove.self,
      RotateKey.self,
    ],
    defaultSubcommand: ListAccounts.self
  )

  /// The options of every command about accounts.
  struct Options: ParsableArguments {
    @OptionGroup var choice: DatabaseChoice

    @OptionGroup var common: CommonOptions

    /// The way to the accounts.
    func door() throws -> AccountsDoor { try AccountsDoor(common, choice) }

    /// Prints what has been done to an account.
    func confirm(_ account: JSONValue, _ what: String) {
      if common.json {
        Output.line(account)
      } else {
        let name = account["email"]?.string ?? account["localId"]?.string ?? ""
        Output.line(untrusted: "\(name): \(what)")
      }
    }
  }
}
