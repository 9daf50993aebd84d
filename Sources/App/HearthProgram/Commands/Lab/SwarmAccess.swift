package import ArgumentParser

/// At which database a swarm is let loose, and what opens it.
package struct SwarmAccess: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A database that is there already: at a local socket, of an emulator, or, with \
      --admin-key-file, one that people sign in to.
      """,
      valueName: "url"
    )
  )
  package var database: String?

  @Option(
    help: ArgumentHelp("A database elsewhere, by the name of its profile.", valueName: "name")
  )
  package var profile: String?

  @Option(
    help: ArgumentHelp(
      """
      The file with the secret of the database's administrators, as hearth serve has it, which only \
      its owner may read; for the hosted service an OAuth2 access token.
      """,
      valueName: "file"
    )
  )
  package var adminKeyFile: String?

  @Option(
    help: ArgumentHelp("The API key of the database's project, if it has one.", valueName: "key")
  )
  package var apiKey: String?

  @Option(
    help: ArgumentHelp(
      "The certificates to believe in place of the system's, a PEM file.",
      valueName: "path"
    )
  )
  package var caFile: String?

  @Flag(help: "Leave in the database what the swarm has written there.")
  package var keep = false

  /// Puts what the profile says in the place of options that were not given.
  ///
  /// - Throws: `ValidationError` for options that do not go together.
  package mutating func validate() throws {
    if let found = try Profile.chosen(profile, beside: database) {
      database = found.database
      apiKey = apiKey ?? found.apiKey
      caFile = caFile ?? found.caFile
    }
    guard database == nil, adminKeyFile != nil || apiKey != nil || caFile != nil || keep else {
      return
    }
    throw ValidationError(
      "--admin-key-file, --api-key, --ca-file and --keep are about a --database; "
        + "the swarm's own server needs none of them"
    )
  }

  package init() {}
}
