import BlogModel
import BlogTUI
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeDatabase

/// A demonstration on one screen, for use without tmux; each part of the screen is a separate
/// client.
@MainActor
final class VirtualStage {
  private let folder: DemoFolder
  private let wishes: DemoStage.Wishes
  private let terminal: NcursesTerminal
  private let terminals: VirtualTerminals
  private let board = DemoBoard()
  private var parts: [VirtualTerminal] = []
  /// Who leads through lessons; nil in a demonstration.
  private var tutor: Tutor?
  private var signal: Int32?

  /// Takes over the terminal.
  init(in folder: DemoFolder, wishes: DemoStage.Wishes, tutor: Tutor? = nil) throws {
    self.folder = folder
    self.tutor = tutor
    self.wishes = wishes
    terminal = try NcursesTerminal.opened(TerminalOptions(usesMouse: false))
    terminals = VirtualTerminals(wake: terminal.wake)
  }

  /// Shows the demonstration until it is over; returns the signal that ended it, if one did.
  func run() async throws -> Int32? {
    defer { terminal.close() }
    let port = wishes.database == nil ? try await DemoStage.startServer(in: folder) : nil
    if tutor != nil { try await Self.furnish(DemoFolder.url(folder.socket)) }
    let plan = try setUp(port: port)
    if tutor != nil {
      try teach(plan)
    } else {
      show(try DemoDirector.begin(plan, in: folder, at: terminals, board))
    }
    board.with { $0.hasEnded = true }
    for part in parts { await part.close() }
    return signal
  }

  private func setUp(port: Int?) throws -> DemoPlan {
    var names = [wishes.user] + wishes.cast.prefix(wishes.terminals - 1)
    let atCable = wishes.database == nil && names.count > 2 ? names.last : nil
    if wishes.presents, port != nil { names.append(DemoStage.stranger) }
    let sizes = sizes(of: names.count, on: terminal.size)
    var restart: (@Sendable () -> Void)?
    if wishes.database == nil {
      let paths = try ProgramPaths(
        dataDirectory: folder.data,
        socket: folder.socket,
        isEphemeral: false
      )
      let server = LocalServer(
        paths,
        ownsSocketDirectory: false,
        program: ChildProcess.hearth
      )
      restart = { try? server.ensureRunning() }
    }
    for (name, size) in zip(names, sizes) {
      let isAtCable = name == atCable
      let socket = isAtCable ? folder.cable : folder.socket
      let entrance = port.flatMap { name == DemoStage.stranger ? DemoFolder.url(port: $0) : nil }
      parts.append(
        try VirtualTerminal(
          name,
          url: entrance ?? wishes.database ?? DemoFolder.url(socket),
          size: size,
          glyphs: terminal.glyphs,
          terminals: terminals,
          willConnect: isAtCable || entrance != nil ? nil : restart,
          wake: terminal.wake
        )
      )
    }
    let panes = names.map { TmuxServer.Pane(id: $0) }
    var plan = DemoPlan(wishes: wishes, own: panes[0])
    let people = zip(names, panes).dropFirst().map { DemoPlan.Actor(name: $0, pane: $1) }
    plan.stranger = people.first { $0.name == DemoStage.stranger }
    plan.actors = people.filter { $0.name != DemoStage.stranger }
    return plan
  }

  // MARK: Loop

  private func show(_ nemesis: DemoNemesis) {
    let end = wishes.seconds.map { ContinuousClock.now + .seconds($0) }
    follow {
      if board.now.hasEnded { return false }
      if let end, ContinuousClock.now >= end { return false }
      board.sample()
      draw(nemesis.all)
      return true
    } taking: { event in
      switch event {
      case .key(.function(10)): return .leave
      case .key(.function(9)): board.ask(.next)
      case .key(.function(7)): board.ask(.back)
      case .escaped(.character(let digit)) where DemoHarm(digit) != nil:
        DemoHarm(digit).map(nemesis.perform)
      case _: return nil
      }
      return .stay
    }
  }

  /// Shows the two terminals of the tutor until the learner leaves.
  private func teach(_ plan: DemoPlan) throws {
    let meter = try DemoMeter(
      DemoFolder.url(folder.socket),
      board: board,
      figuresFile: folder.figures
    )
    let partner = DispatchQueue(label: "hearth.tutor.partner")
    follow {
      if let model = parts[0].model, let act = tutor?.look(at: model) {
        partner.async { [folder, terminals, board] in
          DemoDirector(
            plan,
            folder: folder,
            terminals: terminals,
            board: board,
            meter: meter,
            cable: nil
          ).perform(act)
        }
      }
      draw()
      return true
    } taking: { event in
      switch event {
      case .key(.control("c")): return .leave
      case .key(.function(8)): return tutor?.skip() == true ? .stay : .leave
      case .key(.function(7)): tutor?.back()
      case _: return nil
      }
      return .stay
    }
  }

  /// What follows from a key that belongs to no terminal.
  private enum Consequence {
    case stay
    case leave
  }

  /// Passes on what the user types until the user leaves.
  ///
  /// - Parameters:
  ///   - draw: Draws before each wait for a key; false when everything is over.
  ///   - take: Takes an event that belongs to no terminal; nil for any other.
  private func follow(
    drawing draw: () -> Bool,
    taking take: (TerminalEvent) -> Consequence?
  ) {
    while draw() {
      var keys: [KeyEvent] = []
      for event in terminal.nextEvents(timeout: .milliseconds(100)) {
        switch take(event) {
        case .stay?: continue
        case .leave?: return
        case nil: break
        }
        switch event {
        case .hangUp: return
        case .terminate(let number):
          signal = number
          return
        case .key(.resize(let size)): resize(to: size)
        case .key(let key): keys.append(key)
        case .escaped(let key): keys += [.escape, key]
        case .resumed: terminal.redraw()
        case .woken, .unreadable: break
        }
      }
      // Leaving the own terminal ends everything.
      guard parts[0].turn(keys) else { return }
      for part in parts.dropFirst() { _ = part.turn() }
    }
  }

  /// Writes what the second person wrote before the learner came.
  private static func furnish(_ url: String) async throws {
    let (blog, database) = try Blog.open(as: Tutor.partner, at: url)
    for (title, text) in Tutor.posts {
      _ = try await blog.perform(.post(title: title, body: text))
    }
    await database.close()
  }

  private func resize(to size: Size) {
    for (part, size) in zip(parts, sizes(of: parts.count, on: size)) { _ = part.resize(to: size) }
  }

  private func sizes(of count: Int, on size: Size) -> [Size] {
    guard tutor != nil else { return DemoTiles(size, count: count + 1).insides.map(\.size) }
    return TutorLayout(size).frames.map { frame in
      // A terminal that is not shown is still used.
      frame.isEmpty ? Size(width: 80, height: 24) : frame.inset(rows: 1, columns: 1).size
    }
  }

  private func draw(_ harms: [DemoHarm] = []) {
    var screen = Screen(size: terminal.size)
    let layout = tutor.map { _ in TutorLayout(terminal.size) }
    let frames = layout?.frames ?? DemoTiles(terminal.size, count: parts.count + 1).frames
    if let layout, let model = parts[0].model {
      tutor?.paint(model, on: &screen, in: layout.strip, glyphs: terminal.glyphs)
    }
    for (index, tile) in frames.enumerated() where !tile.isEmpty {
      let title = index < parts.count ? SafeText(untrusted: parts[index].id) : "live"
      let isOwn = index == 0
      let style = Theme.dark[isOwn ? .selectedBorder : .border]
      let inside = screen.box(in: tile, glyphs: terminal.glyphs, title: title, style: style)
      if index < parts.count {
        screen.put(parts[index].screen, in: inside)
      } else {
        let pane = board.now.pane(
          harms: harms,
          hint: wishes.presents ? "F9 next  F7 back  F10 end" : "F10 end",
          glyphs: terminal.glyphs
        )
        screen.put(pane.screen(size: inside.size, glyphs: terminal.glyphs), in: inside)
      }
      if isOwn, let cursor = parts[0].screen.cursor {
        screen.cursor = Position(
          row: inside.row + cursor.row,
          column: inside.column + cursor.column
        )
      }
    }
    terminal.render(screen)
  }
}

/// A terminal in a part of the screen, with a client of its own: its connection and its view.
@MainActor
final class VirtualTerminal: TerminalDevice {
  let id: String
  private(set) var size: Size
  let glyphs: GlyphSet
  /// What it currently shows.
  private(set) var screen: Screen
  private let terminals: VirtualTerminals
  private let database: Database
  private var program: Program<VirtualTerminal>?

  /// What it shows, as a value.
  var model: Model? { program?.model }

  /// Connects a user to a database.
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
    let me = try Author(userName: name)
    let stars = StarMethod.automatic(at: url, for: me, &options)
    database = try Database(url: url, options: options)
    let blog = LiveBlog(
      database: database,
      name: "demo",
      me: me,
      stars: stars,
      terminal: TerminalName(key: "demo-\(name)", text: "demo")
    )
    program = Program(terminal: self, repository: blog, wake: wake)
    program?.begin()
  }

  /// Handles keys, including those typed by the director; false if the user has left.
  func turn(_ keys: [KeyEvent] = []) -> Bool {
    let typed = terminals.takeKeys(of: id)
    return program?.turn((typed + keys).map { .key($0) }) == nil
  }

  func resize(to new: Size) -> Bool {
    size = new
    return turn([.resize(new)])
  }

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

/// Terminals in parts of one screen: stores the keys typed in them, and the text they show.
final class VirtualTerminals: DemoTerminals {
  private struct State {
    var typed: [String: [KeyEvent]] = [:]
    var screens: [String: String] = [:]
  }

  private let state = NIOLockedValueBox(State())
  private let wake: @Sendable () -> Void

  /// Makes terminals; typing in them calls `wake`.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  func press(_ keys: [String], in panes: [TmuxServer.Pane]) {
    let events = keys.compactMap(Self.key)
    state.withLockedValue { state in
      for pane in panes { state.typed[pane.id, default: []] += events }
    }
    wake()
  }

  func type(_ text: String, in pane: TmuxServer.Pane) {
    state.withLockedValue { $0.typed[pane.id, default: []] += text.map { .character($0) } }
    wake()
  }

  func screen(of pane: TmuxServer.Pane) -> String {
    state.withLockedValue { $0.screens[pane.id] ?? "" }
  }

  /// Takes the keys typed in a terminal.
  func takeKeys(of id: String) -> [KeyEvent] {
    state.withLockedValue { $0.typed.removeValue(forKey: id) ?? [] }
  }

  func show(_ screen: Screen, on id: String) {
    let text = screen.text()
    state.withLockedValue { $0.screens[id] = text }
  }

  private static func key(_ name: String) -> KeyEvent? {
    if name.hasPrefix("C-"), name.count == 3 { return name.last.map { .control($0) } }
    return KeyEvent(description: name)
  }
}

/// A screen divided into frames of about the same size, row by row.
struct DemoTiles {
  let frames: [Rect]

  init(_ size: Size, count: Int) {
    let columns = count <= 1 ? 1 : count <= 4 ? 2 : 3
    let rows = (count + columns - 1) / columns
    frames = (0..<count).map { index in
      let row = index / columns
      let inRow = row == rows - 1 ? count - row * columns : columns
      let column = index % columns
      let top = size.height * row / rows
      let bottom = size.height * (row + 1) / rows
      let left = size.width * column / inRow
      let right = size.width * (column + 1) / inRow
      return Rect(row: top, column: left, width: right - left, height: bottom - top)
    }
  }

  var insides: [Rect] { frames.map { $0.inset(rows: 1, columns: 1) } }
}
