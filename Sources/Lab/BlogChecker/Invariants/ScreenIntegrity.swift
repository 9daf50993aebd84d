/// Hostile text never leaves its box on a screen, and nothing on a screen steers the terminal.
struct ScreenIntegrity: Invariant {
  static let promises: [Promise] = [.i13]
  static let statement = "text of others stays within its box on every screen"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    for client in evidence.history.clients {
      for case .screen(let screen) in client.lines.map(\.event) {
        let place = "screen \(screen.group) of \(screen.terminal)"
        for (number, line) in screen.lines.enumerated() {
          let scalars = line.unicodeScalars.filter(Self.isSteering)
          findings.expect(
            scalars.isEmpty,
            at: "\(place), line \(number)",
            "there are characters that steer the terminal"
          ) { [scalars.map { "U+" + String($0.value, radix: 16) }.joined(separator: " ")] }
        }
        if let reference = screen.reference, let box = screen.box {
          compare(screen.lines, reference, box, place)
        }
      }
    }
  }

  private mutating func compare(
    _ lines: [String],
    _ reference: [String],
    _ box: CapturedScreen.Box,
    _ place: String
  ) {
    findings.expect(
      lines.count == reference.count,
      at: place,
      "it has \(lines.count) lines instead of \(reference.count)"
    )
    for (number, (line, expected)) in zip(lines, reference).enumerated() {
      let isInBox = (box.line..<box.line + box.height).contains(number)
      let holds = isInBox ? Self.agree(line, expected, outside: box) : line == expected
      findings.expect(
        holds,
        at: "\(place), line \(number)",
        "hostile text has changed what is outside its box"
      ) { ["shown: \(line)", "expected: \(expected)"] }
    }
  }

  /// Whether two lines agree before and after the columns of a box.
  ///
  /// The reference has one character a column; hostile text may have others, so that what follows the
  /// box is looked for at the end of the line.
  private static func agree(
    _ line: String,
    _ expected: String,
    outside box: CapturedScreen.Box
  ) -> Bool {
    let tail = expected.dropFirst(box.column + box.width)
    return line.prefix(box.column) == expected.prefix(box.column)
      && (tail.allSatisfy(\.isWhitespace) || line.hasSuffix(tail))
  }

  /// Whether a character moves the cursor, turns the direction of text, or is none to be seen.
  private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF:
      true
    default: false
    }
  }
}
