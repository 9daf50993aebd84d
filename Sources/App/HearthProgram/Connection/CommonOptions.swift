import ArgumentParser
package import BlogModel
import Foundation
import RealtimeCore
package import RealtimeDatabase
import RealtimeServer

/// The options that every command takes.
struct CommonOptions: ParsableArguments {
  @Flag(help: "Print JSON, one value a line.")
  var json = false

  @Option(help: "Who you are; by default, the user of this system.".taking("name"))
  var user: String?

  @Option(help: "The directory of the shared local database.".taking("dir"), completion: .directory)
  var dataDir: String?

  @Option(help: "The socket of the local server.".taking("path"), completion: .file())
  var socket: String?

  @Flag(help: "Use a local database that keeps nothing when the last terminal leaves.")
  var ephemeral = false

  @Option(help: "Another database, such as http://127.0.0.1:9000?ns=hearth.".taking("url"))
  var database: String?

  @Option(
    help: "Another database, by the name of its profile.".taking("name"),
    completion: .profiles
  )
  var profile: String?

  @Option(
    help: "Which signed-in account of another database to use (see hearth accounts).".taking("name")
  )
  var account: String?

  @Option(help: "The API key of the database's project, if it has one.".taking("key"))
  var apiKey: String?

  @Option(
    help: "A PEM file of certificates to trust instead of those of the system.".taking("path"),
    completion: .file()
  )
  var caFile: String?

  @Option(help: "How long a command may take.".taking("seconds"))
  var timeout: Double = 10

  /// Checks the time, and fills in options that were not given from the profile.
  ///
  /// - Throws: `ValidationError` when there is no such profile, or a URL was given as well.
  mutating func validate() throws {
    guard timeout > 0, timeout <= 1_000_000_000 else {
      throw ValidationError("--timeout must be a number of seconds above 0, at most 1000000000")
    }
    guard let found = try Profile.chosen(profile, beside: database) else { return }
    database = found.database
    apiKey = apiKey ?? found.apiKey
    caFile = caFile ?? found.caFile
  }

  /// Prints an answer: JSON if that is wanted, or else a line, which may have untrusted text.
  func answer(_ text: @autoclosure () -> String, json: @autoclosure () -> JSONValue) {
    self.json ? Output.line(json()) : Output.line(untrusted: text())
  }

  /// Prints what the command has done; if that fails, the status says that it is done.
  func confirm(_ text: String, json: JSONValue) {
    Output.done(text, json: self.json ? json : nil)
  }

  func paths() throws(CommandFailure) -> ProgramPaths {
    try ProgramPaths(dataDirectory: dataDir, socket: socket, isEphemeral: ephemeral)
  }

  /// Whether a server answers at the socket.
  ///
  /// - Throws: ``CommandFailure`` when `--socket` names something else, or nobody is there and no
  ///   data directory is named that could be used instead.
  func hasServer() throws(CommandFailure) -> Bool {
    let path = try paths().socket
    switch UnixSocketProbe.look(at: path) {
    case .process: return true
    case .nobody where socket == nil || dataDir != nil: return false
    case .nobody: throw CommandFailure(.offline, "no server answers at \(path)")
    case .notASocket, .unusable:
      guard socket != nil else { return false }
      throw CommandFailure(.usage, "\(path) is not the socket of a server")
    }
  }

  /// The local server; nil if the database is remote.
  func localServer() throws(CommandFailure) -> LocalServer? {
    database == nil ? LocalServer(try paths(), ownsSocketDirectory: socket == nil) : nil
  }

  /// The user that `--user` names, or else the user of this system.
  func author() throws -> Author {
    if let user { return try Author(userName: user) }
    let name = getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) }
    return try Author(userName: name ?? "user\(geteuid())")
  }

  /// The URL of the database: the value of `--database`, or else the local server's socket.
  ///
  /// - Throws: ``CommandFailure`` when there is no home directory.
  func databaseURL(
    namespace: String = "hearth",
    at known: ProgramPaths? = nil
  ) throws(CommandFailure) -> String {
    if let database { return database }
    let path = if let known { known.socket } else { try paths().socket }
    let encoded = path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
    return "unix:\(encoded)?ns=\(namespace)"
  }
}

/// A storage that servers share, in place of a data directory.
struct StoreChoice: ParsableArguments {
  @Option(
    help:
      "The PostgreSQL that has the databases, instead of a data directory: postgres://HOST/NAME."
      .taking("url")
  )
  var store: String?

  /// The databases of the storage, or else of the data directory.
  ///
  /// - Throws: ``CommandFailure`` when there is no home directory, or for options that exclude each
  ///   other.
  func databases(
    _ options: CommonOptions,
    changesSchema: Bool = false
  ) throws -> any StoredDatabases {
    try requireAlone(with: options)
    if let store { return Storage.shared(at: store, changesSchema: changesSchema) }
    return try options.paths().databases()
  }

  /// Ensures that no other option says where the databases are as well.
  ///
  /// - Throws: ``CommandFailure`` that names the two options.
  func requireAlone(with options: CommonOptions) throws(CommandFailure) {
    guard store != nil else { return }
    let others = [
      ("--data-dir", options.dataDir != nil), ("--ephemeral", options.ephemeral),
      ("--database", options.database != nil),
    ]
    guard let other = others.first(where: \.1) else { return }
    throw CommandFailure(
      .usage,
      "--store and \(other.0) both say where the databases are; choose one"
    )
  }
}

extension DatabaseName {
  /// Ensures that a text can name a database.
  ///
  /// - Throws: ``CommandFailure`` with the rule.
  static func check(_ name: String) throws(CommandFailure) {
    guard !isValid(name) else { return }
    throw CommandFailure(.usage, "\"\(name)\" cannot name a database: only \(rule) can")
  }
}

/// The database of a data directory that a command works on.
struct DatabaseChoice: ParsableArguments {
  @Option(
    help:
      "A database of the data directory, by its name; by default, the one of the blog."
      .taking("name"),
    completion: .databases
  )
  var ns: String?

  @OptionGroup var storage: StoreChoice

  var name: String { ns ?? DatabaseName.standard }

  /// Finds the database; if no name was given, it need not exist yet.
  ///
  /// - Throws: ``CommandFailure`` when there is no database with this name; it lists the existing
  ///   ones.
  func database(
    _ options: CommonOptions,
    changesSchema: Bool = false
  ) throws -> any StoredDatabase {
    let databases = try storage.databases(options, changesSchema: changesSchema)
    guard let ns else { return databases.database(name) }
    let names = try databases.names()
    guard names.contains(ns) else {
      let others = names.map { "\"\($0)\"" }.joined(separator: ", ")
      throw CommandFailure(
        .notFound,
        "there is no database \"\(ns)\" in "
          + "\(try storage.store.map(Storage.name) ?? options.paths().data); "
          + (names.isEmpty ? "it has none yet" : "it has \(others)")
      )
    }
    return databases.database(ns)
  }

  /// Ensures that `--ns` and `--store` are not combined with a database elsewhere.
  ///
  /// - Throws: ``CommandFailure`` when they are.
  func refuse(with options: CommonOptions) throws(CommandFailure) {
    try storage.requireAlone(with: options)
    guard ns != nil, options.database != nil || options.ephemeral else { return }
    throw CommandFailure(
      .usage,
      "--ns names a database of the data directory; a URL names its own with ns=NAME"
    )
  }
}

/// How a command or a screen writes stars to the database.
struct StarOptions: ParsableArguments {
  enum Choice: String, CaseIterable, ExpressibleByArgument {
    case auto, transaction, increment
  }

  @Option(
    help: """
      How a star is written: increment, one update that the rules of the server check; transaction, for \
      servers without such rules; auto takes increment at a local socket and where you are signed in.
      """.taking("strategy")
  )
  var stars = Choice.auto

  /// The method for writing stars to a database.
  ///
  /// At a local socket, increments need a user for the rules to refer to.
  func method(at url: String, for author: Author, _ options: inout DatabaseOptions) -> StarMethod {
    if stars == .transaction { return .transaction }
    let method = StarMethod.automatic(at: url, for: author, &options)
    return stars == .increment && method == .transaction ? .increment : method
  }
}

extension StarMethod {
  /// Chooses increments where rules ensure that each counts once: at a local socket, and for a
  /// signed-in user.
  package static func automatic(
    at url: String,
    for author: Author,
    _ options: inout DatabaseOptions
  ) -> StarMethod {
    guard url.hasPrefix("unix:") else {
      return options.tokenProvider == nil ? .transaction : .increment
    }
    options.localUser = author.uid
    return .localIncrement
  }
}

extension CommandFailure {
  /// The message and the exit status for any error; a refusal says what whoever asked can do.
  init(_ error: any Error, of asker: CommonOptions?) {
    guard let denied = error as? DatabaseError, denied.kind == .permissionDenied, let asker else {
      self.init(error)
      return
    }
    let text = asker.refusal(denied)
    self.init(.notPermitted, text.prefix(1).lowercased() + text.dropFirst())
  }
}

enum DatabasePath {
  /// Parses a path and checks that every key in it is legal.
  ///
  /// - Throws: ``CommandFailure`` with what is wrong with the path.
  static func parse(_ text: String) throws(CommandFailure) -> String {
    // It may come of a variable that is not set, and would mean everything.
    guard !text.isEmpty else {
      throw CommandFailure(.usage, "the path is empty; / means the whole database")
    }
    let path = Path(wire: text)
    // The client's own state is below `.info`, a key that no data can have.
    let named = path.first == ".info" ? path.rest : path
    if let problem = Validation.problem(withPath: named) {
      throw CommandFailure(.usage, "the path \(text) is not legal: \(problem)")
    }
    return path.description
  }

  /// Parses a JSON value.
  ///
  /// - Throws: ``CommandFailure`` with the position of the error.
  static func json(_ bytes: [UInt8], from source: String) throws(CommandFailure) -> JSONValue {
    do throws(JSONError) {
      return try JSONParser.parse(bytes)
    } catch {
      let line = bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
      throw CommandFailure(.usage, "\(source), line \(line): \(error)")
    }
  }
}
