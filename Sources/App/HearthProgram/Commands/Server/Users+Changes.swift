import ArgumentParser
import RealtimeCore

extension Users {
  /// Makes an account.
  struct Add: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make an account with an address and a password."
    )

    @Argument(help: "The address to sign in with.", transform: DashedWord.restore)
    var email: String

    @Option(help: ArgumentHelp("The name to show.", valueName: "name"))
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
      let made = try await door.call(nil, members)
      let account = try await door.account(made["localId"]?.string ?? email)
      options.confirm(account, "added as \(account["localId"]?.string ?? "")")
    }
  }

  /// Keeps an account from signing in.
  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sign a user out everywhere, and let them in no more."
    )

    @Argument(help: "An address or an identifier.", transform: DashedWord.restore)
    var user: String

    @OptionGroup var options: Options

    func run() async throws {
      try await Users.change(user, "disableUser", to: true, "disabled", options)
    }
  }

  /// Lets an account sign in again.
  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Let a user sign in again.")

    @Argument(help: "An address or an identifier.", transform: DashedWord.restore)
    var user: String

    @OptionGroup var options: Options

    func run() async throws {
      try await Users.change(user, "disableUser", to: false, "enabled", options)
    }
  }

  private static func change(
    _ user: String,
    _ name: String,
    to value: Bool,
    _ what: String,
    _ options: Options
  ) async throws {
    let door = try options.door()
    let id = try await door.account(user)["localId"] ?? .null
    _ = try await door.call("update", ["localId": id, name: .bool(value)])
    options.confirm(try await door.account(id.string ?? user), what)
  }

  /// Removes an account.
  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete",
      abstract: "Delete an account; what its user has written stays."
    )

    @Argument(help: "An address or an identifier.", transform: DashedWord.restore)
    var user: String

    @OptionGroup var options: Options

    func run() async throws {
      let door = try options.door()
      let account = try await door.account(user)
      _ = try await door.call("delete", ["localId": account["localId"] ?? .null])
      options.confirm(account, "deleted")
    }
  }

  /// Makes a code for a new password.
  struct Reset: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Print a code by which a user sets a new password, once, within an hour.",
      discussion: "The server sends no mail: hand the code over in a way that you trust."
    )

    @Argument(help: "An address or an identifier.", transform: DashedWord.restore)
    var user: String

    @OptionGroup var options: Options

    func run() async throws {
      let door = try options.door()
      let account = try await door.account(user)
      guard let email = account["email"] else {
        throw CommandFailure(.usage, "\"\(user)\" has no address, so it has no password either")
      }
      let answer = try await door.call(
        "sendOobCode",
        ["requestType": .string("PASSWORD_RESET"), "email": email]
      )
      let code = answer["oobCode"] ?? .null
      options.common.json
        ? Output.line(.object(("email", email), ("oobCode", code)))
        : Output.line(untrusted: code.string ?? "")
    }
  }

  /// Replaces the key of tokens.
  struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate-key",
      abstract: "Sign tokens with a new key from now on; those of the old one count to their end."
    )

    @OptionGroup var options: Options

    func run() async throws {
      let answer = try await options.door().rotateKey()
      options.common.json
        ? Output.line(answer)
        : Output.line(untrusted: "key \(answer["keyId"]?.string ?? "") signs from now on")
    }
  }
}
