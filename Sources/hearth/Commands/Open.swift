import ArgumentParser
import BlogModel
import BlogTUI
import Foundation
import NcursesTerminal
import RealtimeDatabase
import TerminalUI

/// Opens the blog on the screen.
struct Open: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Open the blog on the screen; what hearth does without a command."
  )

  @Flag(name: .long, inversion: .prefixedNo, help: "Use the mouse.")
  var mouse = true

  @Flag(help: "Draw with ASCII characters only.")
  var ascii = false

  @Option(help: "Use colours: auto, always or never.")
  var color = ColorChoice.auto

  @OptionGroup var options: CommonOptions

  @MainActor
  func run() async throws {
    let me = try options.author()
    let server = try options.localServer()
    // A terminal that cannot show anything is found out before a server is started for it.
    try TerminalScreen.check()
    try server?.ensureRunning()
    var configuration = DatabaseOptions()
    configuration.readDeadline = nil
    configuration.maximumReconnectDelay = server == nil ? .seconds(30) : .seconds(1)
    if let server { configuration.willConnect = { try? server.ensureRunning() } }
    let database = try Database(url: try options.databaseURL(), options: configuration)
    let places = try options.places()
    let journal = FileStarJournal(directory: places.state, uid: me.uid)
    let drafts = DraftFile(directory: places.state, uid: me.uid)
    let blog = LiveBlog(database: database, name: databaseName(places), me: me, journal: journal)
    let screen = try TerminalScreen(
      TerminalOptions(colorMode: color.mode, usesMouse: mouse, usesOnlyASCII: ascii)
    )
    let program = Program(
      terminal: screen,
      repository: blog,
      wake: screen.wake,
      drafts: drafts.load(),
      keepDrafts: { drafts.save($0) }
    )
    blog.resume(journal.unfinished)
    let ending = program.run()
    screen.close()
    drafts.save(program.model.unsentDrafts)
    journal.close()
    switch ending {
    case .quit: return
    case .hangUp: throw ExitCode(128 + SIGHUP)
    case .terminated(let signal): throw ExitCode(128 + signal)
    }
  }

  private func databaseName(_ places: Places) -> String {
    if let database = options.database { return database }
    if options.ephemeral { return "in memory" }
    return options.dataDir == nil ? "local" : (places.data as NSString).lastPathComponent
  }
}

/// When colours are used.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  case auto, always, never

  var mode: TerminalOptions.ColorMode {
    switch self {
    case .auto: .automatic
    case .always: .always
    case .never: .never
    }
  }
}
