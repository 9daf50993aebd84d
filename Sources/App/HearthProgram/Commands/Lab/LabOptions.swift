package import ArgumentParser

/// The command line of a command that `hearth` documents and `hearth-lab` runs.
package protocol LabOptions: ParsableArguments {
  static var configuration: CommandConfiguration { get }
}

/// The command line of `swarm`, which `hearth` documents and `hearth-lab` runs.
package struct SwarmOptions: LabOptions {
  /// The duration in seconds from which a storm must exercise every guarantee.
  package static let usualSeconds = 10.0

  package static let configuration = CommandConfiguration(
    commandName: "swarm",
    abstract: """
      Put a blog under load from many users, with faults, and check that nothing went wrong.
      """,
    discussion: """
      Headless clients in processes of their own read and write at times that a plan sets, which \
      the seed decides (an open load: delays count). Meanwhile clients and \
      the server are killed, stopped and cut off. Afterwards a checker reads the database \
      independently and compares everything with the promises.

      Without --database the swarm has its own server, in a directory that is removed if all \
      promises held. Otherwise, or with --directory, histories, logs and the database stay \
      there.

      With --database it is a guest: nobody else should write there meanwhile, since the checker \
      would report that as a mistake. Where people sign in (--admin-key-file) each user gets its \
      own account, which is deleted at the end. What the swarm wrote is removed as well if all \
      promises held, unless --keep is given; it touches no other posts.

      With --servers there are several, which share a PostgreSQL that the swarm starts in a \
      temporary directory (apt-get install postgresql), and every user gets an account. The faults \
      kill, freeze, partition, delay and postgres then hit servers, mostly the leader: it is killed; \
      stopped for longer than its lease; cut off from PostgreSQL or from its clients; every other \
      connection to it is late; PostgreSQL is restarted. A storm of 30 seconds or more has room for \
      that.

      Faults: drop, delay, partition, kill, pause, duplicate, server-kill, slow, clock, disk-full, \
      rules, hostile, freeze, postgres, all, none.

      Exit status: 0 if all promises held, 1 if one did not, or if too little was done to mean \
      anything.
      """
  )

  @Option(help: "How many users there are.".taking("n"))
  package var users = 10

  @Option(help: "How long the storm lasts.".taking("n"))
  package var seconds = Self.usualSeconds

  @Option(help: "The seed of the plan.".taking("n"))
  package var seed: UInt64 = 1

  @Option(
    help: """
      The mix of actions, as shares of post, comment, star, unstar, edit, delete, retract, count, \
      trespass.
      """.taking("action=n,…")
  )
  package var mix: String?

  @Option(help: "Operations a second, of all users.".taking("n"))
  package var rate: Double?

  @Option(help: "The faults; they are listed above.".taking("name,…"))
  package var faults = "none"

  @Option(
    help: """
      How stars are given: increment or transaction, or as the published samples do: sample, naive; \
      auto takes increment.
      """.taking("strategy")
  )
  package var stars = "auto"

  @Option(help: "How many posts all users work on.".taking("n"))
  package var posts = 5

  @Option(help: "How many users share a process; by default 1 if there are few.".taking("n"))
  package var usersPerProcess: Int?

  @Flag(
    help: """
      Expect the memory and descriptors of all processes not to grow; what is written is also \
      deleted, unless --mix says otherwise.
      """
  )
  package var soak = false

  @Option(help: "How many tmux terminals watch; by default 1 if tmux is installed.".taking("n"))
  package var terminals: Int?

  @Option(
    help: "How many servers the swarm's own blog has; several share a PostgreSQL.".taking("n")
  )
  package var servers = 1

  @OptionGroup package var access: SwarmAccess

  @Option(help: "The rules of the swarm's own server.".taking("file"), completion: .file())
  package var rules: String?

  @Option(
    help:
      "Write the report to this file: a page (.html), a picture (.svg), or JSON."
      .taking("file"),
    completion: .file()
  )
  package var report: String?

  @Option(help: "Keep all files in this new directory.".taking("dir"), completion: .directory)
  package var directory: String?

  @Flag(help: "Print the report as JSON.")
  package var json = false

  @Flag(help: "On a terminal, tell the progress in one line instead of drawing it.")
  package var plain = false

  @Option(
    help: .init(
      "Make a mistake on purpose, to check that it is found; \"list\" lists them.",
      valueName: "name",
      visibility: .hidden
    )
  )
  package var injectBug: String?

  @Option(
    help: .init(
      "Run another server program, such as one with a mistake; it takes the options of serve.",
      valueName: "program",
      visibility: .hidden
    )
  )
  package var server: String?

  /// Checks for options that cannot be combined.
  ///
  /// - Throws: `ValidationError` with the conflicting options.
  package func validate() throws {
    guard (1...9).contains(servers) else { throw ValidationError("--servers takes 1 to 9") }
    guard servers > 1 else { return }
    if access.database != nil {
      throw ValidationError("--servers are the swarm's own; leave --database out")
    }
    if server != nil { throw ValidationError("--servers are those of hearth; leave --server out") }
  }

  package init() {}
}

/// The database that a swarm runs against, and the credentials for it.
package struct SwarmAccess: ParsableArguments {
  @Option(
    help: """
      An existing database: at a local socket, of an emulator, or, with --admin-key-file, one that \
      people sign in to.
      """.taking("url")
  )
  package var database: String?

  @Option(
    help: "Another database, by the name of its profile.".taking("name"),
    completion: .profiles
  )
  package var profile: String?

  @Option(
    help: """
      The file with the secret of the database's administrators, as hearth serve has it, which only \
      its owner may read; for the hosted service an OAuth2 access token.
      """.taking("file"),
    completion: .file()
  )
  package var adminKeyFile: String?

  @Option(help: "The API key of the database's project, if it has one.".taking("key"))
  package var apiKey: String?

  @Option(
    help: "A PEM file of certificates to trust instead of those of the system.".taking("path"),
    completion: .file()
  )
  package var caFile: String?

  @Flag(help: "Do not remove what the swarm wrote to the database.")
  package var keep = false

  /// Fills in options that were not given from the profile.
  ///
  /// - Throws: `ValidationError` for options that cannot be combined.
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

/// The command line of `demo`, which `hearth` documents and `hearth-lab` runs.
package struct DemoOptions: LabOptions {
  package static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Watch several terminals at work, and join in: everything is live, and is checked.",
    discussion: """
      Opens terminals side by side (with tmux, which it starts privately), with people who read, \
      post, comment and star, a terminal of your own, and a live pane that measures and checks. The \
      database is a temporary one unless --database names another. Alt-1 to Alt-5 do harm at once: \
      kill the server, freeze it, cut a cable, fill the disk, race for a star; the live pane shows \
      what comes of it. With --present, F8 plays the next scene and F7 goes back one. It ends with q in the live pane, \
      with F10, when you leave your own terminal, or after --seconds, and leaves nothing behind.

      Exit status: 0 if everything was right, 1 if the live pane found a contradiction.
      """
  )

  @Option(help: "How many terminals people have, yours among them.".taking("n"))
  package var panes = 3

  @Option(help: "Stop after this time.".taking("seconds"))
  package var seconds: Double?

  @Flag(
    help:
      "Go through scenes, each on a key: a race, a pulled cable, a refused write, a killed server."
  )
  package var present = false

  @Option(help: "Who you are.".taking("name"))
  package var user = "you"

  @Option(help: "A database elsewhere, which gets all these posts.".taking("url"))
  package var database: String?

  @Option(help: "The number that decides what people do.".taking("n"))
  package var seed: UInt64 = 1

  @Flag(name: .customLong("no-tmux"), help: "Use one screen with a part for each terminal.")
  package var usesOneScreen = false

  @Option(help: .init("How long to leave for reading a scene.", visibility: .hidden))
  package var pace: Double?

  @Option(help: .init("Be the live pane.", visibility: .hidden))
  package var conduct: String?

  @Option(name: .customLong("guard"), help: .init("Be the guard.", visibility: .hidden))
  package var guarded: String?

  package init() {}
}

/// The command line of `tutor`, which `hearth` documents and `hearth-lab` runs.
package struct TutorOptions: LabOptions {
  package static let configuration = CommandConfiguration(
    commandName: "tutor",
    abstract: "Learn the blog in five minutes, with a second person at a terminal of their own.",
    discussion: """
      Opens a blog of its own with two terminals on one screen: yours, and that of robin, who answers \
      you. Lines at the top say what to do; each lesson is over when you have done it. F8 skips a \
      lesson, F7 goes back one, q in a list and ^C leave. Your own blog is not touched, and nothing is \
      left behind.
      """
  )

  package init() {}
}
