import ArgumentParser
import RealtimeCore

struct Users: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "users",
    abstract: "List the accounts of the local server's databases, or change them.",
    discussion: """
      This requires write access to the data directory, whether a server runs or not. With --store \
      the accounts are those in PostgreSQL, and all its servers notice within a second. An account \
      is named by its address or its identifier. Disabling or deleting an account signs it out \
      everywhere at once, and so does a new password.
      """,
    subcommands: [
      ListAccounts.self, Add.self, Disable.self, Enable.self, Reset.self, Remove.self,
      RotateKey.self,
    ],
    defaultSubcommand: ListAccounts.self
  )

  struct Options: ParsableArguments {
    @OptionGroup var choice: DatabaseChoice

    @OptionGroup var common: CommonOptions

    func door() throws -> AdminClient { try AdminClient(common, for: choice) }

    func confirm(_ account: JSONValue, what: String) {
      let name = account["email"]?.string ?? account["localId"]?.string ?? ""
      common.confirm("\(name): \(what)", json: account)
    }
  }

  /// An account that is to be changed.
  struct Account: ParsableArguments {
    @Argument("An address or an identifier.")
    var user: String

    @OptionGroup var options: Options

    fileprivate func setDisabled(_ isDisabled: Bool, what: String) async throws {
      let door = try options.door()
      let id = try await door.account(user)["localId"] ?? .null
      _ = try await door.call("update", members: ["localId": id, "disableUser": .bool(isDisabled)])
      options.confirm(try await door.account(id.string ?? user), what: what)
    }
  }
}

extension Users {
  struct ListAccounts: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list",
      abstract: "Print the accounts: identifier, address, name, and remarks."
    )

    @OptionGroup var options: Options

    func run() async throws {
      let door = try options.door()
      var next: String? = ""
      while let token = next {
        let page = try await door.call("batchGet", parameters: [("nextPageToken", token)])
        for account in page["users"]?.elements ?? [] { write(account) }
        next = page["nextPageToken"]?.string
      }
    }

    private func write(_ account: JSONValue) {
      var notes: [String] = []
      if account["disabled"]?.bool == true { notes.append("disabled") }
      if account["resetRequestedAt"] != nil { notes.append("asked for a new password") }
      let texts = [
        account["localId"]?.string, account["email"]?.string ?? "-", account["displayName"]?.string,
        notes.isEmpty ? nil : "(\(notes.joined(separator: ", ")))",
      ]
      options.common.answer(texts.compactMap(\.self).joined(separator: "  "), json: account)
    }
  }

  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "add",
      abstract: "Make an account with an address and a password."
    )

    @Argument("The address to sign in with.")
    var email: String

    @Option(help: "The name to show.".taking("name"))
    var name: String?

    @Flag(help: "Read the password from stdin, one line, instead of asking for it.")
    var passwordStdin = false

    @OptionGroup var options: Options

    func run() async throws {
      let door = try options.door()
      let password =
        try passwordStdin
        ? PasswordInput.fromStandardInput()
        : PasswordInput.fromTerminal("Password for \(email)", isNew: true)
      var members: [String: JSONValue] = ["email": .string(email), "password": .string(password)]
      if let name { members["displayName"] = .string(name) }
      let made = try await door.call(nil, members: members)
      let account = try await door.account(made["localId"]?.string ?? email)
      options.confirm(account, what: "added as \(account["localId"]?.string ?? "")")
    }
  }

  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "disable",
      abstract: "Sign a user out everywhere, and disable the account."
    )

    @OptionGroup var account: Account

    func run() async throws { try await account.setDisabled(true, what: "disabled") }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable",
      abstract: "Let a user sign in again."
    )

    @OptionGroup var account: Account

    func run() async throws { try await account.setDisabled(false, what: "enabled") }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete an account; what its user has written stays."
    )

    @OptionGroup var chosen: Account

    func run() async throws {
      let (door, options) = (try chosen.options.door(), chosen.options)
      let account = try await door.account(chosen.user)
      _ = try await door.call("delete", members: ["localId": account["localId"] ?? .null])
      options.confirm(account, what: "deleted")
    }
  }

  struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reset",
      abstract: "Print a code that lets a user set a new password, once, within an hour.",
      discussion: "The server sends no mail: hand the code over in a way that you trust."
    )

    @OptionGroup var chosen: Account

    func run() async throws {
      let door = try chosen.options.door()
      let account = try await door.account(chosen.user)
      guard let email = account["email"] else {
        let name = "\"\(chosen.user)\""
        throw CommandFailure(.usage, "\(name) has no address, so it has no password either")
      }
      let answer = try await door.call(
        "sendOobCode",
        members: ["requestType": .string("PASSWORD_RESET"), "email": email]
      )
      let code = answer["oobCode"] ?? .null
      chosen.options.common.confirm(
        code.string ?? "",
        json: .object(("email", email), ("oobCode", code))
      )
    }
  }

  struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate-key",
      abstract: "Sign tokens with a new key from now on; older ones stay valid until they expire."
    )

    @OptionGroup var options: Options

    func run() async throws {
      let answer = try await options.door().rotateKey()
      let key = answer["keyId"]?.string ?? ""
      options.common.confirm("key \(key) signs from now on", json: answer)
    }
  }
}
