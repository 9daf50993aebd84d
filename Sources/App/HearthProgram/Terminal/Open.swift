import ArgumentParser
import BlogModel
import BlogTUI
import DurableFiles
import Foundation
import Logging
import NIOConcurrencyHelpers
import RealtimeAuth
import RealtimeDatabase
import RealtimeServer

struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open",
    abstract: "Open the blog on the screen, as hearth does without a command."
  )

  @OptionGroup(title: "Screen") var screen: ScreenOptions

  @Option(
    help: "Log to this file instead of hearth.log in the state directory.".taking("file"),
    completion: .file()
  )
  var log: String?

  @Option(
    help: .init("What the screen calls the database.", valueName: "text", visibility: .hidden)
  )
  var databaseName: String?

  @OptionGroup(title: "Log") var logging: LogOptions

  @OptionGroup var starring: StarOptions

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    try screen.files.check()
    if try await printsOnly() { return }
    if let path = screen.script { return try await ScriptRun(path: path, options: screen).run() }
    let server = try options.localServer()
    // Check the terminal before starting a server for it.
    if !screen.plain { try NcursesTerminal.check() }
    let recording = try screen.recording()
    try server?.ensureRunning()
    var ending = Ending.changeAccount
    var current: CurrentUser?
    while ending == .changeAccount {
      var configuration = DatabaseOptions()
      // When a transaction is given up, the screen undoes the change. So many retries are allowed
      // that this does not happen even where many people change the same post.
      configuration.transactionTries = 1_000
      switch try receive(&configuration, after: current) {
      case .left(let reason): ending = reason
      case .someone(let me):
        current = CurrentUser(author: me, tokens: configuration.tokenProvider)
        ending = try await runBlog(
          as: me,
          configuration: configuration,
          server: server,
          recording: recording
        )
      }
    }
    recording?.finish()
    try ending.finish()
  }

  /// Runs the blog for a user until they quit or want to change the account.
  @MainActor
  private func runBlog(
    as me: Author,
    configuration: DatabaseOptions,
    server: LocalServer?,
    recording: RecordingFile?
  ) async throws -> Ending {
    ResidentMemory.returnLargeBlocks()
    var configuration = configuration
    configuration.readDeadline = nil
    configuration.maximumReconnectDelay = server == nil ? .seconds(30) : .seconds(1)
    configuration.clock = SteadyClock.now(followsSystem: server != nil)
    if let server {
      configuration.willConnect = { try? server.ensureRunning(patience: LocalServer.shortPatience) }
    }
    // To determine them asks the socket's server whether it is there.
    let paths = try server?.paths ?? options.paths()
    let url = try options.databaseURL(at: paths)
    let isElsewhere = options.database != nil || options.socket != nil
    let offline = try OfflineUse(paths, uid: me.uid, address: isElsewhere ? url : nil)
    let stars = starring.method(at: url, for: me, &configuration)
    try offline.sendLeftovers(url: url, options: configuration, as: me)
    offline.prepare(&configuration)
    let logger = try makeLogger(paths)
    let database = try Database(url: url, options: configuration, logger: logger)
    database.observeConnection(ConnectionLog(logger: logger).note)
    logger.notice("opened", metadata: ["pid": "\(getpid())", "user": "\(me.uid)"])
    defer { logger.notice("left", metadata: ["pid": "\(getpid())"]) }
    offline.enable(database)
    let auth = configuration.tokenProvider as? Auth
    let blog = LiveBlog(
      database: database,
      name: databaseName(paths),
      me: me,
      naming: try naming(),
      stars: stars,
      terminal: offline.terminal,
      sharesReading: !screen.plain,
      signIn: try signIn(with: configuration.tokenProvider),
      keepName: { [options] name in
        guard let user = auth?.currentUser, let remote = try? RemoteAccounts(options) else {
          return
        }
        Task { try? await remote.keep(name, of: user) }
      },
      keepRefused: RefusedRequests(paths).keep,
      obstacle: { server?.obstacle() },
      releaseMemory: {
        // By then the database has dropped it; a screen with very many comments takes longer.
        for delay in [1.0, 5, 15] {
          DispatchQueue.hearthBackground.asyncAfter(deadline: .now() + delay) {
            ResidentMemory.giveBack()
          }
        }
      }
    )
    let ending =
      screen.plain
      ? PlainRun(blog: blog, keepsWrites: offline.isKept).run()
      : try runScreen(
        blog,
        database: database,
        paths: paths,
        me: me,
        tokens: configuration.tokenProvider,
        recording: recording
      )
    await blog.flush()
    await database.close()
    return ending
  }

  /// How to sign in, while the tokens belong to nobody: the account may be disabled or signed out
  /// elsewhere while the blog is open.
  private func signIn(
    with tokens: (any DatabaseTokenProvider)?
  ) throws -> @Sendable () -> String? {
    guard try hasAccounts() else { return { nil } }
    let advice = screen.plain ? "\"hearth sign-in\" signs in" : ":account signs in"
    guard let tokens else { return { advice } }
    guard let auth = tokens as? Auth else { return { nil } }
    return { auth.currentUser == nil ? advice : nil }
  }

  @MainActor
  private func runScreen(
    _ blog: LiveBlog,
    database: Database,
    paths: ProgramPaths,
    me: Author,
    tokens: (any DatabaseTokenProvider)?,
    recording: RecordingFile?
  ) throws -> Ending {
    let drafts = DraftFile(directory: paths.state, uid: me.uid)
    let history = CommandHistory(directory: paths.state)
    let files = screen.files
    let settings = files.read().settings
    let memory = TerminalMemory(directory: paths.state)
    var abilities = TerminalOptions(settings)
    abilities.joinsEmoji = memory.joinsEmoji
    let terminal = try NcursesTerminal.opened(abilities)
    terminal.didMeasure = memory.keep(joinsEmoji:)
    let look = TerminalLook(colorCount: terminal.colorCount)
    let read: @Sendable () -> Configuration = { look.applied(to: files.read()) }
    let reports = NIOLockedValueBox<(@Sendable (String) -> Void)?>(nil)
    var environment = Environment.system(
      paths,
      files: files,
      drafts: drafts,
      history: history,
      report: { text in reports.withLockedValue(\.self)?(text) }
    )
    let tap = WireTap(database)
    let secrets = [options.apiKey].compactMap(\.self)
    tap.open(in: &environment, known: secrets)
    // The server answers while the first screen is being made.
    database.goOnline()
    environment.canChangeAccount = try hasAccounts()
    environment.isWithoutAccount = environment.canChangeAccount && tokens == nil
    var recent = RecentRecording()
    if let recording { environment.record = { recording.add($0) } }
    environment.remember = { recent.add($0, after: $1) }
    let reporter = Reporter(paths: paths, known: secrets)
    environment.report = { model, file in
      reporter.report(on: model, recording: recent.text, wire: tap.recent(), to: file)
    }
    let kept = drafts.load()
    let program = Program(
      terminal: terminal,
      repository: blog,
      wake: terminal.wake,
      unsent: kept.unsent,
      configuration: read(),
      history: history.load(),
      environment: environment
    )
    // One message, so that none hides another.
    let news = kept.news + [unstoredAccount(of: tokens)].compactMap(\.self)
    if !news.isEmpty { program.add(.failed(news.joined(separator: " "))) }
    if let problem = kept.problem { program.add(.kept(problem: problem.description)) }
    tap.report { program.add(.wire($0)) }
    reports.withLockedValue { $0 = { [weak program] in program?.add(.failed($0)) } }
    recording?.report = { [weak program] in program?.add(.failed($0)) }
    let signOut = tokens?.observeTokens { token in
      if token == nil { program.add(.failed("You are signed out. :account signs in again.")) }
    }
    let watch = ConfigurationWatch(file: files.path, themes: files.themes) {
      program.add(.configured(read()))
    }
    terminal.didTellBackground = { isLight in
      look.isLight = isLight
      program.add(.configured(read()))
    }
    terminal.didAnswer = { if look.note($0) { program.add(.configured(read())) } }
    ProgramPages.releaseOnceStarted()
    let ending = program.run()
    terminal.close()
    withExtendedLifetime((watch, signOut)) {}
    tap.close()
    if let problem = drafts.save(program.model.unsent, isDurable: true) {
      Output.message("what was typed is not saved: \(problem.description)")
    }
    drafts.close()
    return ending
  }

  /// What to tell a user whose credentials could not be stored; nil if they are, or if there are
  /// none.
  private func unstoredAccount(of tokens: (any DatabaseTokenProvider)?) -> String? {
    guard let user = (tokens as? Auth)?.currentUser else { return nil }
    do {
      let consequence = "You are signed in only until this terminal closes"
      try options.requireStored(true, of: user.uid, orElse: consequence)
      return nil
    } catch {
      return "\(CommandFailure(error).description)."
    }
  }

  /// Handles options that only print and need neither a screen nor a server; false if there are
  /// none.
  private func printsOnly() async throws -> Bool {
    if screen.listThemes {
      for name in screen.files.read().themeNames { Output.line(untrusted: name) }
      return true
    }
    if screen.printConfig {
      let configuration = screen.files.read()
      for problem in configuration.allProblems { Output.message(problem.description) }
      Output.text(ConfigurationText.text(of: configuration))
      return true
    }
    if screen.debugInfo {
      let lines = DebugInformation.lines(paths: try options.paths(), files: screen.files)
      for line in lines { Output.line(untrusted: line) }
      return true
    }
    return false
  }

  /// The log of this terminal; if its default file cannot be opened, nothing is logged.
  private func makeLogger(_ paths: ProgramPaths) throws(CommandFailure) -> Logger {
    if let log { return logging.logger("hearth", to: try LogFile(log, size: logging.logSize)) }
    guard let file = try? LogFile(paths.ownLog, size: logging.logSize) else {
      return Logger(label: "hearth") { _ in SwiftLogNoOpLogHandler() }
    }
    return logging.logger("hearth", to: file)
  }

  func databaseName(_ paths: ProgramPaths) -> String {
    if let databaseName { return databaseName }
    if let name = options.profile ?? options.database { return name }
    if options.ephemeral { return "in memory" }
    return options.dataDir == nil ? "local" : FilePath.name(of: paths.data)
  }
}

extension Open {
  /// Where the user's name comes from; someone without one is asked on a screen that is kept.
  func naming() throws -> LiveBlog.Naming {
    if let reason = try options.nameRefusal() { return .fixed(reason: reason) }
    let isLocal = try options.accounts() == nil
    return .kept(asks: isLocal && !screen.plain && !options.ephemeral)
  }

  /// The outcome of asking who will use the blog.
  enum SignInResult {
    /// A person, with or without an account.
    case someone(Author)
    /// Nobody: the user left, or the terminal is gone.
    case left(Ending)
  }

  struct CurrentUser {
    let author: Author
    /// The user's proof of identity; nil without an account.
    let tokens: (any DatabaseTokenProvider)?

    /// The user in the terms of the sign-in screens.
    var returningUser: SignIn.ReturningUser { tokens == nil ? .nobody : .account(uid: author.uid) }
  }

  func hasAccounts() throws -> Bool {
    try options.accounts() != nil && options.user == nil
  }

  /// Determines who uses the blog, and asks on the screen if that is unknown.
  ///
  /// The credentials are added to the options for opening the database. Without a current user, a
  /// signed-in user enters without being asked.
  ///
  /// - Throws: ``CommandFailure`` or `AuthError` when the user cannot be determined.
  @MainActor
  func receive(
    _ configuration: inout DatabaseOptions,
    after current: CurrentUser?
  ) throws -> SignInResult {
    guard let accounts = try options.accounts(), options.user == nil, !screen.plain else {
      return .someone(try options.signIn(&configuration))
    }
    configuration.trustRoots = options.trustRoots
    if current == nil, let auth = try options.signedIn(), auth.currentUser?.displayName != nil {
      configuration.tokenProvider = auth
      return .someone(try options.author(auth))
    }
    let settings = screen.files.read()
    var abilities = TerminalOptions(settings.settings)
    // The blog itself tests what the terminal can do; the sign-in screen need not.
    abilities.joinsEmoji = false
    let terminal = try NcursesTerminal.opened(abilities)
    defer { terminal.close() }
    let mailbox = Mailbox<SignInEvent>(wake: terminal.wake)
    let clerk = SignInController(RemoteAccounts(configuration: accounts), mailbox: mailbox)
    let signIn = SignIn(
      databaseName: try databaseName(options.paths()),
      accounts: try SignInController.accounts(accounts),
      allowsNobody: true,
      returningUser: current?.returningUser,
      size: terminal.size,
      glyphs: settings.settings.isOn(.ascii) ? .ascii : terminal.glyphs,
      theme: TerminalLook(colorCount: terminal.colorCount).applied(to: settings).theme
    )
    let program = SignInProgram(
      terminal: terminal,
      signIn: signIn,
      mailbox: mailbox,
      perform: clerk.perform
    )
    switch program.run() {
    case .left(let ending): return .left(ending)
    case .back:
      configuration.tokenProvider = current?.tokens
      return .someone(try current?.author ?? options.author())
    case .withoutAccount: return .someone(try options.author())
    case .done:
      guard let visitor = clerk.visitor else { return .someone(try options.author()) }
      configuration.tokenProvider = visitor.auth
      return .someone(visitor.author)
    }
  }
}

extension Ending {
  /// Ends a command with the status of what has ended its screen, unless the user left it.
  ///
  /// - Throws: `ExitCode`.
  func finish() throws {
    switch self {
    case .quit, .changeAccount: return
    case .refused: throw ExitStatus.failed.exitCode
    case .hangUp: throw ExitCode(128 + SIGHUP)
    case .terminated(let signal): throw ExitCode(128 + signal)
    }
  }
}
