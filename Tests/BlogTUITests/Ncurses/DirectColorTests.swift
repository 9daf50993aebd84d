import Foundation
import Glibc
import TestSupport
import Testing

@testable import BlogTUI

extension NcursesTerminalTests {
  private static let orange = Style(foreground: .rgb(255, 158, 94), background: .rgb(58, 42, 32))

  /// What is written for one cell with two shades.
  private func written(type: String, _ variables: [String: String]) throws -> String {
    let names = ["COLORTERM", "STY", "TERMINFO"]
    let before = names.map { ($0, getenv($0).map { String(cString: $0) }) }
    defer { for (name, value) in before { setOrUnset(name, value) } }
    for name in names { setOrUnset(name, variables[name]) }
    let pseudo = try PseudoTerminal(type: type)
    let terminal = try NcursesTerminal.open(TerminalOptions(colorMode: .always), on: pseudo.device)
    defer { terminal.close() }
    #expect(getenv("TERMINFO").map { String(cString: $0) } == variables["TERMINFO"])
    terminal.render(Screen(size: terminal.size))
    _ = pseudo.written()
    var screen = Screen(size: terminal.size)
    screen.put("X", at: Position(row: 1, column: 1), style: Self.orange)
    terminal.render(screen)
    return pseudo.written()
  }

  private func setOrUnset(_ name: String, _ value: String?) {
    if let value { setenv(name, value, 1) } else { unsetenv(name) }
  }

  @Test("A terminal that announces 24-bit colours gets them, whatever its entry says")
  func directColor() throws {
    for type in ["xterm-256color", "tmux-256color", "screen-256color"] {
      let written = try written(type: type, ["COLORTERM": "truecolor"])
      #expect(written.contains("\u{1B}[38;2;255;158;94m"), "\(type): \(written.debugDescription)")
      #expect(written.contains("48;2;58;42;32"), "\(type): \(written.debugDescription)")
    }
    for variables in [
      [:], ["COLORTERM": ""], ["COLORTERM": "yes"], ["COLORTERM": "truecolor", "STY": "1.pts"],
    ] {
      let written = try written(type: "xterm-256color", variables)
      #expect(written.contains("38;5;"), "\(variables): \(written.debugDescription)")
    }
  }

  @Test("A terminal with eight colours shows a shade behind text as reversed text")
  func fewColors() throws {
    let written = try written(type: "xterm", ["COLORTERM": "truecolor"])
    #expect(written.contains(";7mX"), "\(written.debugDescription)")
    #expect(!written.contains("38;"), "\(written.debugDescription)")
  }

  @Test("The terminal says which background it has")
  func background() throws {
    let pseudo = try PseudoTerminal()
    let terminal = try NcursesTerminal.open(TerminalOptions(colorMode: .always), on: pseudo.device)
    defer { terminal.close() }
    #expect(pseudo.written().contains("\u{1B}]11;?\u{1B}\\"))
    var told: [Bool] = []
    terminal.didTellBackground = { told.append($0) }
    pseudo.type("\u{1B}]11;rgb:fbfb/f6f6/efef\u{1B}\\j")
    #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
    #expect(told == [true])
  }
}

@Suite("Entries of the terminal database")
struct TerminalEntryTests {
  private static func entry(_ source: String) throws -> [UInt8] {
    let directory = try TemporaryDirectory()
    try Data(source.utf8).write(to: URL(fileURLWithPath: directory.path + "/source"))
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/tic")
    compiler.arguments = ["-x", "-o", directory.path, directory.path + "/source"]
    try compiler.run()
    compiler.waitUntilExit()
    return Array(try Data(contentsOf: URL(fileURLWithPath: directory.path + "/p/pixie")))
  }

  @Test("Flags without a number of their own are found by their names")
  func flags() throws {
    let colors = "pixie|p,\n\tcolors#256, cup=\\E[%i%p1%d;%p2%dH"
    let plain = try #require(TerminalEntry(Self.entry(colors + ",\n")))
    #expect(plain.colorCount == 256 && !plain.hasFlag("Tc"))
    let own = try #require(TerminalEntry(Self.entry(colors + ", AX, Tc, XM=\\E[?1000h, Us#3,\n")))
    #expect(own.hasFlag("Tc") && own.hasFlag("AX"))
    #expect(!own.hasFlag("XM") && !own.hasFlag("RGB") && !own.hasFlag(""))
    for entry in [plain, own] {
      let direct = try #require(TerminalEntry(entry.withDirectColor))
      #expect(direct.colorCount == 1 << 24 && direct.hasFlag("RGB"))
      #expect(direct.hasFlag("Tc") == entry.hasFlag("Tc"))
      #expect(direct.withDirectColor == direct.withDirectColor)
    }
  }

  @Test("A damaged entry is refused, or read without a crash")
  func damaged() throws {
    let bytes = try Self.entry("pixie|p,\n\tcolors#256, Tc, XM=\\E[?1000h, Us#3,\n")
    for count in 0..<bytes.count {
      guard let entry = TerminalEntry(Array(bytes[..<count])) else { continue }
      _ = entry.hasFlag("Tc")
      #expect(!entry.withDirectColor.isEmpty)
    }
    for index in bytes.indices {
      for value: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
        var other = bytes
        other[index] = value
        guard let entry = TerminalEntry(other) else { continue }
        _ = (entry.hasFlag("Tc"), entry.withDirectColor)
      }
    }
  }
}
