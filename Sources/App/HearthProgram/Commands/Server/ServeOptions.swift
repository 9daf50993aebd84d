import ArgumentParser
import Foundation
import RealtimeServer

/// The command-line options of a server, apart from the paths of its data and socket.
struct ServeOptions: ParsableArguments {
  @Option(help: "Also listen on this port of 127.0.0.1; 0 chooses one.".taking("n"))
  var port: Int?

  @Option(
    help:
      "The rules file for clients that are not at the socket; SIGHUP rereads it."
      .taking("file"),
    completion: .file()
  )
  var rules: String?

  @Option(help: "The database for clients that name none.".taking("name"))
  var ns: String = DatabaseName.standard

  @Flag(
    help: """
      Stand in for the emulator, for tests on this machine: accept every credential, allow \
      everything until there are rules, make databases on first use. Listens on port 9000 only, \
      and keeps nothing, unless --port, --socket or --data-dir say otherwise.
      """
  )
  var emulator = false

  @Option(
    help:
      "Accept web pages of this origin, such as http://localhost:5173; may be repeated."
      .taking("origin")
  )
  var allowOrigin: [String] = []

  @Option(
    help: """
      Accept requests that name this host, such as the name that a proxy or a container network \
      uses, and its web pages; addresses and localhost are always accepted; may be repeated.
      """.taking("host[:port]")
  )
  var allowHost: [String] = []

  @Option(
    help: "Set a limit; may be repeated. hearth serve --help lists all limits.".taking("name=n")
  )
  var limit: [String] = []

  @Option(help: "Stop after this many seconds without a connection.".taking("seconds"))
  var idleExit: Double?

  @Option(help: "Log to this file instead of stderr.".taking("file"), completion: .file())
  var log: String?

  @Option(
    help: .init(
      "Keep the commits in the store that come after the one this file names.",
      valueName: "file",
      visibility: .hidden
    )
  )
  var logMark: String?

  @Option(
    help:
      "Use at most this many connections to the PostgreSQL of --store (30, at least 4)."
      .taking("n")
  )
  var storeConnections: Int?

  @Option(
    help: "Log connections, writes, latencies and so on as JSON at this interval.".taking("seconds")
  )
  var metrics: Double?

  /// The limits by name with their defaults, for the help text.
  static var limitHelp: String {
    let width = DatabaseServer.Limits.table.map(\.name.count).max() ?? 0
    return DatabaseServer.Limits.table.map { entry in
      let padding = String(repeating: " ", count: width - entry.name.count + 2)
      return "  \(entry.name)\(padding)\(entry.summary) (\(entry.defaultValue))"
    }.joined(separator: "\n")
  }

  /// The options of the server, which have not been validated yet.
  ///
  /// - Throws: ``CommandFailure`` for a value that cannot be used.
  func serverOptions(socket: String?) throws -> DatabaseServer.Options {
    var options =
      emulator ? DatabaseServer.Options.emulator(port: port ?? 9_000) : DatabaseServer.Options()
    if !emulator { options.port = port }
    options.socketPath = socket
    options.namespace = ns
    options.allowedOrigins = allowOrigin
    options.allowedHosts = allowHost
    options.idleExit = try Self.duration(idleExit, of: "--idle-exit")
    options.metricsInterval = try Self.duration(metrics, of: "--metrics")
    if let rules { options.rules = .source(try Rules.load(rules).source) }
    for setting in limit { try Self.set(setting, in: &options.limits) }
    return options
  }

  private static func duration(_ seconds: Double?, of name: String) throws -> Duration? {
    guard let seconds else { return nil }
    guard (0.001...1_000_000_000).contains(seconds) else {
      throw CommandFailure(.usage, "\(name) must be from 0.001 to 1000000000 seconds")
    }
    return .seconds(seconds)
  }

  private static func set(_ setting: String, in limits: inout DatabaseServer.Limits) throws {
    let parts = setting.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let value = Int(parts[1]) else {
      throw CommandFailure(.usage, "--limit takes NAME=NUMBER, not \(setting)")
    }
    try limits.set(String(parts[0]), to: value)
  }
}

/// The pages of the blog for readers without a terminal.
struct PagesOptions: ParsableArguments {
  @Flag(
    help: """
      Show the blog at /blog/ to browsers and feed readers, as far as the rules let everybody read: \
      lists, posts with their comments, and a feed at /blog/feed.atom.
      """
  )
  var pages = false

  @Option(
    help:
      "Where readers find the pages, such as https://blog.example.org, for the feed."
      .taking("url")
  )
  var pagesUrl: String?

  @Option(help: "What the pages call the blog.".taking("text"))
  var pagesTitle: String?

  /// Adds the pages to the options of a server.
  ///
  /// - Throws: ``CommandFailure`` for an invalid address, or for options without `--pages`.
  func apply(to options: inout DatabaseServer.Options) throws(CommandFailure) {
    guard pages else {
      guard pagesUrl == nil, pagesTitle == nil else {
        throw CommandFailure(.usage, "--pages-url and --pages-title require --pages")
      }
      return
    }
    guard options.port != nil else {
      throw CommandFailure(.usage, "--pages requires --port")
    }
    do throws(BlogPages.AddressError) {
      options.pages = try BlogPages(title: pagesTitle ?? "Hearth", address: pagesUrl)
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
  }
}

/// The options for serving over the network.
struct NetworkOptions: ParsableArguments {
  @Option(
    help:
      "Listen on this address of the machine; 0.0.0.0 and :: mean all of them."
      .taking("address")
  )
  var address: String?

  @Option(
    help: "Encrypt connections to the port: the certificate and its chain.".taking("pem"),
    completion: .file()
  )
  var tlsCert: String?

  @Option(
    help: "The private key of the certificate, a file that nobody else can read.".taking("pem"),
    completion: .file()
  )
  var tlsKey: String?

  @Option(
    help: """
      The authority of the other servers' certificates, when several share a storage and the system \
      does not trust it.
      """.taking("pem"),
    completion: .file()
  )
  var tlsCa: String?

  @Option(
    help: """
      Where clients reach this server behind a proxy; or, when several servers share a storage, \
      where the others reach this one and no other.
      """.taking("host[:port]")
  )
  var advertise: String?

  @Flag(
    help: """
      When several servers share a storage, send clients to the one that leads their database, \
      instead of forwarding what they say; each server then needs a name that clients reach.
      """
  )
  var redirect = false

  @Flag(
    help: """
      Let other machines connect without encryption: everyone in between can read and change all \
      that is sent, passwords included.
      """
  )
  var allowPlaintext = false

  /// Sets the network options of a server.
  ///
  /// - Throws: ``CommandFailure`` for options that need each other.
  func apply(to options: inout DatabaseServer.Options) throws(CommandFailure) {
    if let address {
      guard options.port != nil else {
        throw CommandFailure(.usage, "--address requires --port")
      }
      options.host = address
      do throws(DatabaseServerError) {
        try options.checkHost()
      } catch {
        throw CommandFailure(error)
      }
    }
    switch (tlsCert, tlsKey) {
    case (let certificate?, let key?):
      guard options.port != nil else {
        throw CommandFailure(.usage, "--tls-cert needs --port, whose connections it encrypts")
      }
      options.tls = DatabaseServer.TLS(
        certificateChain: certificate,
        privateKey: key,
        authority: tlsCa
      )
    case (nil, nil): break
    case (_?, nil):
      throw CommandFailure(.usage, "--tls-cert needs the key as well (--tls-key)")
    case (nil, _?):
      throw CommandFailure(.usage, "--tls-key needs the certificate (--tls-cert)")
    }
    if tlsCa != nil, options.tls == nil {
      throw CommandFailure(
        .usage,
        "--tls-ca needs --tls-cert and --tls-key, which encrypt what servers exchange"
      )
    }
    options.redirectsClients = redirect
    options.allowsPlaintext = allowPlaintext
    if let advertise {
      guard options.port != nil else {
        throw CommandFailure(.usage, "--advertise needs --port, which is what clients reach")
      }
      options.advertisedHost = advertise
    }
    guard !options.isExposed || allowPlaintext else {
      throw CommandFailure(
        .usage,
        "other machines can reach \(options.host): --tls-cert and --tls-key encrypt what is sent,"
          + " and --allow-plaintext lets everyone in between read and change it"
      )
    }
  }

  /// The warning on stderr when connections are not encrypted.
  static let warning = """
    WITHOUT ENCRYPTION: other machines may connect, and everyone in between can read and change all \
    that is sent, passwords included. --tls-cert and --tls-key encrypt it.
    """
}

/// The options of a server for accounts and administrators.
struct IdentityOptions: ParsableArguments {
  @Option(help: "How long a user's token is valid before it is renewed.".taking("seconds"))
  var tokenSeconds = 3_600

  @Option(
    help: """
      A file with a secret of 32 bytes or more, which only its owner may read: whoever presents it \
      (Authorization: Bearer) is an administrator.
      """.taking("file"),
    completion: .file()
  )
  var adminKeyFile: String?

  @Flag(help: "Turn off sign-up; \"hearth users add\" makes accounts.")
  var noSignUp = false

  /// Sets the identity options of a server; without paths, nothing is stored.
  ///
  /// - Throws: `CommandFailure` for a value that cannot be used.
  func apply(to options: inout DatabaseServer.Options, keptIn paths: ProgramPaths?) throws {
    guard (1...86_400).contains(tokenSeconds) else {
      throw CommandFailure(.usage, "--token-seconds must be from 1 to 86400")
    }
    options.identities.tokenLifetime = .seconds(tokenSeconds)
    options.identities.allowsSignUp = !noSignUp
    if let adminKeyFile {
      options.identities.administratorKey = try AdministratorKeyFile.secret(adminKeyFile)
    }
    if let paths {
      options.identities.openStore = { [directory = paths.identities] in
        try Storage.accounts(in: directory)
      }
    }
  }
}

extension ProgramPaths {
  var identities: String { "\(data)/identities" }
}
