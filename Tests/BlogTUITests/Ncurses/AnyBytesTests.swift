import Glibc
import TestSupport
import Testing

@testable import BlogTUI

extension NcursesTerminalTests {
  /// Parts of sequences, whole sequences and plain bytes, in any order.
  private static func bytes(_ random: inout SplitMix64) -> [UInt8] {
    let pieces = [
      "\u{1B}", "\u{1B}[", "\u{1B}O", "\u{1B}[<", "\u{1B}[<0;7;3M", "\u{1B}[<65;999;999m",
      "\u{1B}[<;;;", "\u{1B}[M", "\u{1B}[200~", "\u{1B}[201~", "\u{1B}[?2026;1$y", "\u{1B}]0;x",
      "\u{1B}[A", "\u{1B}[1;5C", "漢", "é", "🎉", "\r", "\t", "\u{7F}", "q", "\u{0}",
    ]
    return (0..<40).flatMap { _ -> [UInt8] in
      if Bool.random(using: &random) {
        return Array(pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8)
      }
      let byte = UInt8.random(in: 0...255, using: &random)
      // ^Z stops the process, while ^C and ^\ are keys here: only the first would end the test.
      return byte == 0x1A ? [] : [byte]
    }
  }

  @Test("Random input is consumed in a bounded number of calls", arguments: [UInt64(1), 2, 3])
  func anyBytes(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let pseudo = try PseudoTerminal()
    let terminal = try NcursesTerminal.open(TerminalOptions(), on: pseudo.device)
    defer { terminal.close() }
    for _ in 0..<60 {
      let bytes = Self.bytes(&random)
      pseudo.type(bytes: bytes)
      var events = 0
      var calls = 0
      // A paste ends with its mark alone, so each round ends with it.
      pseudo.type("\u{1B}[201~\u{1B}[201~M~")
      while true {
        let new = terminal.nextEvents(timeout: .zero)
        if new.isEmpty, calls > 2 { break }
        events += new.count
        calls += 1
        try #require(calls <= bytes.count + 20)
      }
      #expect(events <= bytes.count + 20)
      terminal.render(Screen(size: terminal.size))
      _ = pseudo.written()
    }
    // Nothing is left half read: the next key is the next event.
    pseudo.type("\u{1B}[201~\r")
    let keys = terminal.nextEvents(timeout: .seconds(5))
    #expect(keys.last == .key(.enter))
  }
}
