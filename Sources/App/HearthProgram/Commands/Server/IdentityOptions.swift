import ArgumentParser
import RealtimeServer

/// What a server is told about accounts and administrators.
struct IdentityOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("How long a user's token counts before it is renewed.", valueName: "seconds")
  )
  var tokenSeconds = 3_600

  @Option(
    help: ArgumentHelp(
      """
      A file with a secret of 32 bytes or more, which only its owner may read: whoever shows it \
      (Authorization: Bearer) is an administrator.
      """,
      valueName: "file"
    )
  )
  var adminKeyFile: String?

  @Flag(help: "Let nobody make an account for themselves; \"hearth users add\" makes them.")
  var noSignUp = false

  /// Puts what was said into the options of a server.
  ///
  /// - Parameters:
  ///   - options: The options of the server.
  ///   - places: Where its data are kept, or nil when they are not.
  /// - Throws: `CommandFailure` for a value that is not usable.
  func apply(to options: inout DatabaseServer.Options, keptIn places: Places?) throws {
    guard (1...86_400).contains(tokenSeconds) else {
      throw CommandFailure(.usage, "--token-seconds must be from 1 to 86400")
    }
    options.identities.tokenLifetime = .seconds(tokenSeconds)
    options.identities.allowsSignUp = !noSignUp
    if let adminKeyFile {
      options.identities.administratorKey = try AdministratorKeyFile.secret(adminKeyFile)
    }
    if let places {
      options.identities.openStore = { [directory = places.identities] in
        try Storage.accounts(in: directory)
      }
    }
  }
}

extension Places {
  /// The directory of the accounts.
  var identities: String { "\(data)/identities" }
}
