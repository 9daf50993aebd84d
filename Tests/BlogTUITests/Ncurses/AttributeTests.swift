import Foundation
import TestSupport
import Testing

@testable import BlogTUI

/// The output for the same styles on four kinds of terminals, stored in `Goldens`.
extension NcursesTerminalTests {
  private static let styles: [(String, Style)] = [
    ("plain", .plain),
    ("bold", Style(attributes: .bold)),
    ("dim", Style(attributes: .dim)),
    ("underline", Style(attributes: .underline)),
    ("reverse", Style(attributes: .reverse)),
    ("yellow", Style(foreground: .yellow, attributes: .bold)),
    ("palette", Style(foreground: .indexed(208))),
    ("rgb", Style(foreground: .rgb(0x8F, 0x3F, 0x00))),
    ("background", Style(foreground: .white, background: .red)),
  ]

  /// A terminal with direct colours, defined by the test since few systems have its entry
  /// installed.
  private static let direct = """
    hearth-direct|a terminal with direct colours for tests,
    \tRGB, colors#0x1000000, pairs#0x7FFF, ccc@, initc@,
    \tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
    \tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d\\:%p1%{255}%&%d%;m,
    \tuse=xterm-256color,

    """

  @Test(
    "Styles match their goldens on four types of terminal",
    arguments: ["vt220", "xterm", "xterm-256color", "hearth-direct"]
  )
  func attributes(type: String) throws {
    let directory = try TemporaryDirectory()
    try Self.describeDirect(in: directory)
    defer { unsetenv("TERMINFO_DIRS") }
    let pseudo = try PseudoTerminal(type: type)
    let options = TerminalOptions(
      colorMode: .always,
      usesMouse: false,
      usesOnlyASCII: true,
      usesSynchronizedOutput: false,
      usesDirectColor: false
    )
    let terminal = try NcursesTerminal.open(options, on: pseudo.device)
    defer { terminal.close() }
    terminal.render(Screen(size: terminal.size))
    _ = pseudo.written()
    var text = ""
    for (name, style) in Self.styles {
      var screen = Screen(size: terminal.size)
      screen.put("X", at: Position(row: 1, column: 1), style: style)
      terminal.render(screen)
      let bytes = pseudo.written().unicodeScalars.map { scalar in
        scalar.value < 0x20
          ? "^" + String(Unicode.Scalar(UInt8(scalar.value) + 64)) : String(scalar)
      }
      text += "\(name): \(bytes.joined())\n"
      terminal.render(Screen(size: terminal.size))
      _ = pseudo.written()
    }
    Golden.check(text, in: "../Ncurses/Goldens/attributes-\(type).txt")
  }

  /// Makes the terminal with direct colours known to ncurses, until `TERMINFO_DIRS` is unset.
  static func describeDirect(in directory: TemporaryDirectory) throws {
    let source = directory.path + "/direct.ti"
    try Self.direct.write(toFile: source, atomically: true, encoding: .utf8)
    let tic = Process()
    tic.executableURL = URL(fileURLWithPath: "/usr/bin/tic")
    tic.arguments = ["-x", "-o", directory.path + "/terminfo", source]
    try tic.run()
    tic.waitUntilExit()
    try #require(tic.terminationStatus == 0)
    setenv("TERMINFO_DIRS", directory.path + "/terminfo:", 1)
  }
}
