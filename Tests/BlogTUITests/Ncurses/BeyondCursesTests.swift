import Foundation
import TestSupport
import Testing

@testable import BlogTUI

/// Features that ncurses lacks, on terminals with and without support for them.
///
/// Extends the serialized suite: ncurses supports only one terminal at a time.
extension NcursesTerminalTests {
  private static let size = (width: 40, height: 10)

  /// Runs the body with a terminal of some kind, whose screen it can inspect.
  private func withPicture(
    opensLinks: Bool = true,
    joinsEmoji: Bool = true,
    _ options: TerminalOptions = TerminalOptions(),
    _ body: (inout Picture) throws -> Void
  ) throws {
    // The tests may themselves be running in a terminal.
    let names = ["TMUX", "STY", "VTE_VERSION", "TERM_PROGRAM", "KONSOLE_VERSION", "WT_SESSION"]
    let before = names.map { ($0, getenv($0).map { String(cString: $0) }) }
    names.forEach { unsetenv($0) }
    if opensLinks { setenv("VTE_VERSION", "7200", 1) }
    defer {
      for (name, value) in before { value.map { _ = setenv(name, $0, 1) } ?? { unsetenv(name) }() }
    }
    let (width, height) = Self.size
    let pseudo = try PseudoTerminal(width: UInt16(width), height: UInt16(height))
    let terminal = try NcursesTerminal.open(options, on: pseudo.device)
    defer { terminal.close() }
    var picture = Picture(pseudo: pseudo, terminal: terminal, width: width, height: height)
    picture.shown.joinsEmoji = joinsEmoji
    try body(&picture)
    #expect(picture.shown.offences == [])
  }

  /// A terminal in memory at the other end.
  private struct Picture {
    let pseudo: PseudoTerminal
    let terminal: NcursesTerminal
    var shown: VirtualTerminal
    /// The last bytes written.
    var bytes = ""

    @MainActor
    init(pseudo: PseudoTerminal, terminal: NcursesTerminal, width: Int, height: Int) {
      self.pseudo = pseudo
      self.terminal = terminal
      shown = VirtualTerminal(width: width, height: height)
    }

    @MainActor
    mutating func render(_ screen: Screen) {
      terminal.render(screen)
      take()
    }

    mutating func take() {
      bytes = pseudo.written()
      shown.take(bytes.utf8)
    }

    /// The link addresses in a row, by column.
    func links(_ row: Int) -> [Int: String] {
      var links: [Int: String] = [:]
      for (column, cell) in shown.cells[row].enumerated() { links[column] = cell.link }
      return links
    }
  }

  private func page(_ text: SafeText, _ links: [(ClosedRange<Int>, String)]) -> Screen {
    var screen = Screen(size: Size(width: Self.size.width, height: Self.size.height))
    screen.put(text, at: Position(row: 3, column: 0))
    for (columns, address) in links {
      let cells = Rect(row: 3, column: columns.lowerBound, width: columns.count, height: 1)
      screen.link(cells, to: address)
    }
    return screen
  }

  @Test("A link covers exactly its cells and follows changes of its address")
  func links() throws {
    let (one, two) = ("https://a.example/1", "https://b.example/2;x")
    try withPicture { picture in
      picture.render(page("see here, or there", [(4...7, one), (13...17, two)]))
      var expected: [Int: String] = [:]
      for column in 4...7 { expected[column] = one }
      for column in 13...17 { expected[column] = two }
      #expect(picture.links(3) == expected)
      #expect(picture.shown.lines[3] == "see here, or there")
      // The same text links to a different address, and then to none.
      picture.render(page("see here, or there", [(4...7, two)]))
      #expect(Set(picture.links(3).values) == [two] && picture.links(3).count == 4)
      picture.render(page("see here, or there", []))
      #expect(picture.links(3) == [:])
      picture.render(page("see here, or there", []))
      #expect(picture.bytes == "")
    }
  }

  @Test("Links can be turned off and are not sent to terminals without known support")
  func linksTurnedOff() throws {
    let screen = page("here", [(0...3, "https://a.example/")])
    try withPicture { picture in
      picture.render(screen)
      #expect(picture.links(3).count == 4)
      picture.terminal.apply(TerminalOptions(usesLinks: false))
      picture.render(screen)
      #expect(picture.links(3) == [:])
      #expect(!picture.bytes.contains("\u{1B}]8"))
    }
    try withPicture(opensLinks: false) { picture in
      picture.render(screen)
      #expect(!picture.bytes.contains("\u{1B}]8") && picture.shown.lines[3] == "here")
    }
    try withPicture(TerminalOptions(usesLinks: false)) { picture in
      picture.render(screen)
      #expect(!picture.bytes.contains("\u{1B}]8"))
    }
  }

  @Test(
    "An invalid address produces no link",
    arguments: [
      "", "https://a/\u{1B}\\x", "https://a/\u{7}", "https://a/ b", "https://é/", "\u{9C}",
    ]
  )
  func hostileAddresses(address: String) throws {
    try withPicture { picture in
      picture.render(page("here", [(0...3, address)]))
      #expect(!picture.bytes.contains("\u{1B}]8"))
      #expect(picture.links(3) == [:])
    }
  }

  @Test(
    "Links and emoji stay in place under random screen changes",
    arguments: 0..<6 as Range<UInt64>
  )
  func anyChange(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let words: [SafeText] = ["word", "a", "👨‍👩‍👧", "漢字", "❤️", "👋🏽", "  ", "longer words", "👋", "❤"]
    let addresses = (0..<4).map { "https://host\($0).example/" }
    try withPicture(TerminalOptions(joinsEmoji: true)) { picture in
      var screen = Screen(size: Size(width: Self.size.width, height: Self.size.height))
      for _ in 0..<120 {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let row = Int.random(in: 0..<Self.size.height, using: &random)
          let column = Int.random(in: 0..<Self.size.width - 14, using: &random)
          let style = Style(
            foreground: [.red, .indexed(200), .standard].randomElement(using: &random) ?? .red,
            attributes: Bool.random(using: &random) ? .bold : []
          )
          let word = words.randomElement(using: &random) ?? "word"
          screen.put(word, at: Position(row: row, column: column), style: style)
          guard Bool.random(using: &random) else { continue }
          let cells = Rect(row: row, column: column, width: word.width, height: 1)
          screen.link(cells, to: addresses.randomElement(using: &random) ?? "")
        }
        screen.cursor = Position(
          row: Int.random(in: 0..<Self.size.height, using: &random),
          column: Int.random(in: 0..<Self.size.width, using: &random)
        )
        picture.render(screen)
        for row in 0..<Self.size.height {
          let cells = Array(screen.row(row))
          let text = cells.map { cell in
            // A narrow emoji drawn as a picture covers both its cells.
            cell.isContinuation ? "" : cell.text
          }
          #expect(picture.shown.cells[row].map(\.text) == text, "row \(row)")
          let links = cells.map { screen.address(of: $0) }
          let drawn = picture.shown.cells[row].map(\.link)
          #expect(drawn == links, "row \(row)")
        }
      }
    }
  }

  @Test("A terminal that joins emoji is queried once and then draws families in two cells")
  func joinedEmoji() throws {
    let screen = page("a👨‍👩‍👧b👋🏽c❤️d", [])
    try withPicture { picture in
      var heard: [Bool] = []
      picture.terminal.didMeasure = { heard.append($0) }
      // The first frame does not wait for the answer.
      picture.take()
      picture.render(screen)
      #expect(picture.shown.lines[3].hasPrefix("a👨b👋c❤ d"))
      picture.pseudo.type(picture.shown.answers + "j")
      #expect(picture.terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
      #expect(heard == [true])
      picture.render(screen)
      #expect(picture.shown.lines[3] == "a👨‍👩‍👧b👋🏽c❤️d")
      #expect(picture.shown.cells[3][3].text == "b" && picture.shown.cells[3][9].text == "d")
    }
  }

  @Test("A terminal that does not join emoji gets separate characters")
  func separateEmoji() throws {
    let screen = page("a👨‍👩‍👧b", [])
    try withPicture(joinsEmoji: false) { picture in
      var heard: [Bool] = []
      picture.terminal.didMeasure = { heard.append($0) }
      picture.take()
      #expect(picture.shown.answers.contains("\u{1B}[2;7R"))
      picture.pseudo.type(picture.shown.answers + "j")
      #expect(picture.terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
      #expect(heard == [false])
      picture.render(screen)
      #expect(picture.shown.lines[3] == "a👨b")
      #expect(picture.shown.cells[3][3].text == "b")
    }
    // The terminal is not queried if the answer is known, nor if it is limited to ASCII.
    for options in [TerminalOptions(joinsEmoji: false), TerminalOptions(usesOnlyASCII: true)] {
      try withPicture(options) { picture in
        picture.take()
        #expect(!picture.bytes.contains("\u{1B}[6n"))
        picture.render(screen)
        #expect(!picture.shown.lines[3].contains("\u{200D}"))
      }
    }
  }

  @Test(
    "Terminals that support links are recognized by their environment",
    arguments: [
      ("xterm-256color", [:], false), ("xterm-256color", ["VTE_VERSION": "7200"], true),
      ("xterm-256color", ["VTE_VERSION": "4801"], false), ("xterm-kitty", [:], true),
      ("foot", [:], true), ("xterm-256color", ["TERM_PROGRAM": "WezTerm"], true),
      ("xterm-256color", ["KONSOLE_VERSION": "220801"], true), ("linux", [:], false),
      (
        "tmux-256color",
        ["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.3a"], false
      ),
      (
        "screen-256color",
        ["TMUX": "x", "TERM_PROGRAM": "tmux", "TERM_PROGRAM_VERSION": "3.4"], true
      ),
      ("screen-256color", ["STY": "1.x", "VTE_VERSION": "7200"], false),
    ] as [(String, [String: String], Bool)]
  )
  func knownTerminals(type: String, environment: [String: String], opens: Bool) {
    #expect(TerminalAbilities.opensLinks(type: type) { environment[$0] } == opens)
  }
}
