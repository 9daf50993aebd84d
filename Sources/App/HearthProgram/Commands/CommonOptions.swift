import ArgumentParser
import BlogModel
import Foundation
import RealtimeDatabase

/// The options that every command takes.
struct CommonOptions: ParsableArguments {
  @Flag(name: .long, help: "Print JSON, one value a line.")
  var json = false

  @Option(
    name: .long,
    help: ArgumentHelp("Who to be; without it, the user of this system.", valueName: "name")
  )
  var user: String?

  @Option(name: .long, help: ArgumentHelp("Where the shared local database is.", valueName: "dir"))
  var dataDir: String?

  @Option(name: .long, help: ArgumentHelp("The socket of the local server.", valueName: "path"))
  var socket: String?

  @Flag(name: .long, help: "Use a local database that keeps nothing when the last terminal leaves.")
  var ephemeral = false

  @Option(
    name: .long,
    help: ArgumentHelp(
      "A database elsewhere, such as http://127.0.0.1:9000?ns=hearth.",
      valueName: "url"
    )
  )
  var database: String?

  @Option(
    name: .long,
    help: ArgumentHelp("A database elsewhere, by the name of its profile.", valueName: "name")
  )
  var profile: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Who to be at a database elsewhere, of those who are signed in there (hearth accounts).",
      valueName: "name"
    )
  )
  var account: String?

  @Option(
    name: .long,
    help: ArgumentHelp("The API key of the database's project, if it has one.", valueName: "key")
  )
  var apiKey: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "The certificates to believe in place of the system's, a PEM file.",
      valueName: "path"
    )
  )
  var caFile: String?

  @Option(name: .long, help: ArgumentHelp("How long a command may take.", valueName: "seconds"))
  var timeout: Double = 10

  /// Puts what the profile says in the place of options that were not given.
  ///
  /// - Throws: `ValidationError` when there is no such profile, or a URL beside it.
  mutating func validate() throws {
    guard let found = try Profile.chosen(profile, beside: database) else { return }
    database = found.database
    apiKey = apiKey ?? found.apiKey
    caFile = caFile ?? found.caFile
  }

  /// Where things are.
  func places() throws(CommandFailure) -> Places {
    try Places(dataDirectory: dataDir, socket: socket, isEphemeral: ephemeral)
  }

  /// The local server, or nil when the database is elsewhere.
  func localServer() throws(CommandFailure) -> LocalServer? {
    database == nil ? LocalServer(try places(), ownsSocketDirectory: socket == nil) : nil
  }

  /// Who I am.
  func author() throws -> Author {
    if let user { return try Author(userName: user) }
    let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    return try Author(userName: name ?? "user\(geteuid())")
  }

  /// The URL of the database.
  ///
  /// - Parameter namespace: Which one of the local server, where no URL is given.
  /// - Returns: What `--database` says, or else the local server's socket.
  /// - Throws: ``CommandFailure`` when there is no home directory.
  func databaseURL(namespace: String = "hearth") throws(CommandFailure) -> String {
    if let database { return database }
    let path = try places().socket
    let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    return "unix:\(encoded)?ns=\(namespace)"
  }
}
