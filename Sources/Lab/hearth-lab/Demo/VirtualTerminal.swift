import BlogModel
import BlogTUI
import RealtimeDatabase

/// A terminal that is a part of a screen, with a client of its own: its connection, its view.
@MainActor
final class VirtualTerminal: TerminalDevice {
  /// Its name.
  let id: String
  private(set) var size: Size
  let glyphs: GlyphSet
  /// What it shows.
  private(set) var screen: Screen
  private let terminals: VirtualTerminals
  private let database: Database
  private var program: Program<VirtualTerminal>?

  /// Connects somebody to a database.
  ///
  /// - Throws: `DatabaseURLError`, or what is wrong with the name.
  init(
    _ name: String,
    url: String,
    size: Size,
    glyphs: GlyphSet,
    terminals: VirtualTerminals,
    willConnect: (@Sendable () -> Void)?,
    wake: @escaping @Sendable () -> Void
  ) throws {
    id = name
    self.size = size
    self.glyphs = glyphs
    self.terminals = terminals
    screen = Screen(size: size)
    var options = DatabaseOptions()
    options.readDeadline = nil
    options.maximumReconnectDelay = .seconds(1)
    options.willConnect = willConnect
    database = try Database(url: url, options: options)
    let blog = LiveBlog(
      database: database,
      name: "demo",
      me: try Author(userName: name),
      terminal: TerminalName(key: "demo-\(name)", text: "demo")
    )
    program = Program(terminal: self, repository: blog, wake: wake)
    program?.begin()
  }

  /// Takes keys, and what was typed by others on behalf of its user; false when the user has left.
  func turn(_ keys: [KeyEvent] = []) -> Bool {
    let typed = terminals.takeKeys(of: id)
    return program?.turn((typed + keys).map { .key($0) }) == nil
  }

  /// Gives it another size.
  func resize(to new: Size) -> Bool {
    size = new
    return turn([.resize(new)])
  }

  /// Ends the connection.
  func close() async {
    program = nil
    await database.close()
  }

  func nextEvents(timeout: Duration?) -> [TerminalEvent] { [] }

  func render(_ screen: Screen) {
    self.screen = screen
    terminals.show(screen, on: id)
  }

  func redraw() {}
  func suspend() {}
  func bell() {}
  func notify(_ text: String) {}
}
