import ArgumentParser
import RealtimeAuth
import RealtimeCore

/// Lists who is signed in on this machine.
struct AccountsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accounts",
    abstract: "Print who is signed in on this machine, the last one first.",
    discussion: "With --database or --profile only the accounts of that database."
  )

  @OptionGroup var options: CommonOptions

  func run() throws {
    let places = try options.places()
    let file = "\(places.state)/\(AuthConfiguration.fileName)"
    let accounts = try options.accounts()?.keptAccounts() ?? AuthConfiguration.keptAccounts(file)
    for account in accounts {
      if options.json {
        Output.line(account.json)
      } else {
        let name = account.displayName ?? account.uid
        let email = account.email ?? "no email address"
        Output.line(untrusted: "\(name)  \(email)  \(account.server)")
      }
    }
  }
}

extension KeptAccount {
  /// The account as commands print it.
  fileprivate var json: JSONValue {
    let members = [
      JSONMember("uid", .string(uid)), displayName.map { JSONMember("name", .string($0)) },
      email.map { JSONMember("email", .string($0)) }, JSONMember("database", .string(server)),
    ]
    return .object(members.compactMap(\.self))
  }
}
