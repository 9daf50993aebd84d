import ArgumentParser
import RealtimeHub
import RealtimeServer

/// Which database of a data directory a command is for.
struct DatabaseChoice: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A database of the data directory, by its name; without it the one of the blog.",
      valueName: "name"
    )
  )
  var ns: String?

  /// The name of the database.
  var name: String { ns ?? DatabaseName.standard }

  /// The database.
  ///
  /// - Parameter places: Where the data are.
  /// - Returns: The database; without a name, it need not exist yet.
  /// - Throws: ``CommandFailure`` when there is no database of the name, with those that there are.
  func database(in places: Places) throws -> any StoredDatabase {
    let databases = places.databases()
    guard let ns else { return databases.database(name) }
    let names = try databases.names()
    guard names.contains(ns) else {
      let others = names.map { "\"\($0)\"" }.joined(separator: ", ")
      throw CommandFailure(
        .notFound,
        "there is no database \"\(ns)\" in \(places.data); "
          + (names.isEmpty ? "it has none yet" : "it has \(others)")
      )
    }
    return databases.database(ns)
  }

  /// Makes sure that a name is not meant for a database which is elsewhere.
  ///
  /// - Throws: ``CommandFailure`` when it is.
  func refuse(with options: CommonOptions) throws(CommandFailure) {
    guard ns != nil, options.database != nil || options.ephemeral else { return }
    throw CommandFailure(
      .usage,
      "--ns names a database of the data directory; a URL names its own with ns=NAME"
    )
  }
}
