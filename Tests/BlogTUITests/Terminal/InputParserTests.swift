import TestSupport
import Testing

@testable import BlogTUI

@Suite("InputParser")
struct InputParserTests {
  /// What terminals send, and the keys that it means; `+Key` is a key right behind an escape.
  private static let table = """
    xterm, cursor keys | ␛OA ␛[A ␛[B ␛[C ␛[D | Up Up Down Right Left
    xterm, cursor keys | ␛[H ␛[F ␛OH ␛OF ␛[5~ ␛[6~ ␛[2~ ␛[3~ | Home End Home End PgUp PgDn Ins Del
    xterm, function keys | ␛OP ␛OQ ␛OR ␛OS ␛[15~ ␛[17~ ␛[18~ ␛[19~ | F1 F2 F3 F4 F5 F6 F7 F8
    xterm, function keys | ␛[20~ ␛[21~ ␛[23~ ␛[24~ ␛[29~ | F9 F10 F11 F12 F16
    xterm, Shift | ␛[1;2A ␛[1;2H ␛[5;2~ ␛[Z | Up Home PgUp S-Tab
    xterm, Control | ␛[1;5D ␛[1;5C ␛[1;6C | ^Left ^Right ^Right
    xterm, Control | ␛[1;5A ␛[1;5H ␛[1;5F ␛[5;5~ ␛[3;5~ |
    xterm, Alt | ␛[1;3A ␛[1;3D ␛[3;3~ ␛[6;4~ | Alt-Up Alt-Left Alt-Del Alt-PgDn
    xterm, Meta | ␛[1;9A |
    xterm, old modifiers | ␛[5D ␛O5C ␛O1;5D | ^Left ^Right ^Left
    xterm, function keys | ␛[1;2P ␛[1;2R ␛[15;2~ ␛[1;5P ␛[1;6Q ␛[1;3P | F13 F15 F17 F25 F38 Alt-F1
    VTE, function keys | ␛O1;2P ␛O1;5S | F13 F28
    keypad | ␛Op ␛Oq ␛Or ␛Os ␛Ot ␛Ou ␛Ov ␛Ow ␛Ox ␛Oy | 0 1 2 3 4 5 6 7 8 9
    keypad | ␛Oj ␛Ok ␛Ol ␛Om ␛On ␛Oo ␛OX ␛OM ␛OI | * + , - . / = Enter Tab
    keypad, middle and modifiers | ␛OE ␛[E ␛[G ␛[1;5E ␛O5j |
    kitty and foot | ␛[P ␛[Q ␛[13~ ␛[S ␛[27u ␛[13u ␛[9u ␛[127u | F1 F2 F3 F4 Esc Enter Tab Backspace
    kitty, Control | ␛[99;5u ␛[105;5u ␛[109;5u ␛[32;5u ␛[47;5u ␛[91;5u | ^C Tab Enter ^@ ^_ Esc
    kitty, Control and Shift | ␛[99;6u ␛[9;5u ␛[27;5u ␛[57410;5u |
    kitty, Alt | ␛[102;3u ␛[102:70;4u ␛[127;3u ␛[13;3u | Alt-f Alt-F Alt-Backspace Alt-Enter
    kitty, Super and Hyper | ␛[99;9u ␛[99;13u ␛[97;17u |
    kitty, locks | ␛[97;65u ␛[99;69u ␛[1;129A | a ^C Up
    kitty, events | ␛[97;1:1u ␛[97;1:2u ␛[97;1:3u ␛[1;1:3A ␛[3;1:3~ ␛[1;5:2C | a a ^Right
    kitty, alternates | ␛[49:33;2u ␛[97:65;2u ␛[97;2u ␛[49;2u ␛[1089::99;5u | ! A A ^C
    kitty, text | ␛[97;2;65u ␛[49;2;33u ␛[97;;97u ␛[0;;229u | A ! a å
    kitty, keypad | ␛[57400u ␛[57414u ␛[57413u ␛[57419u ␛[57427u ␛[57417;5u | 1 Enter + Up ^Left
    kitty, keys without text | ␛[57441;2u ␛[57358u ␛[57376u ␛[57430u ␛[9;2u | F13 S-Tab
    modifyOtherKeys | ␛[27;5;99~ ␛[27;2;33~ ␛[27;3;102~ ␛[27;5;13~ ␛[27;6;95~ | ^C ! Alt-f Enter ^_
    modifyOtherKeys | ␛[27;6;67~ ␛[27;5;9~ ␛[27;9;97~ |
    rxvt | ␛[7~ ␛[8~ ␛[7$ ␛[8$ ␛[5$ ␛[a ␛[b ␛[c ␛[d | Home End Home End PgUp Up Down Right Left
    rxvt, Control | ␛[7^ ␛[8@ ␛[3^ ␛Oa ␛Ob ␛Oc ␛Od | ^Right ^Left
    rxvt, function keys | ␛[11~ ␛[14~ ␛[11^ ␛[25~ ␛[34~ ␛[23$ ␛[11@ | F1 F4 F25 F13 F20 F23 F37
    rxvt, Alt | ␛␛[A ␛␛OP ␛␛[7~ | +Up +F1 +Home
    Linux console | ␛[[A ␛[[B ␛[[C ␛[[D ␛[[E ␛[1~ ␛[4~ ␛[25~ ␛[[F | F1 F2 F3 F4 F5 Home End F13
    tmux and screen | ␛[1~ ␛[4~ ␛OM ␛Ou ␛OP | Home End Enter 5 F1
    PuTTY and alacritty | ␛[11~ ␛[12~ ␛OA ␛[1~ ␛[1;3D | F1 F2 Up Home Alt-Left
    st | ␛[4h ␛[2J ␛[K ␛[L ␛[3;5~ |
    Windows Terminal | ␛[65;30;97;1;0;1_ ␛[65;30;97;0;0;1_ |
    focus | ␛[I ␛[O |
    replies | ␛[?62;22c ␛[>41;354;0c ␛[=1c ␛[0n ␛[?6n ␛[12;34R ␛[1;40R ␛[?1;1R |
    replies | ␛]11;rgb:1e1e/1e1e/1e1e␛\\ ␛]11;rgb:0/0/0␇ ␛]4;1;rgb:0/0/0␛\\ ␛]52;c;aGk=␇ |
    replies | ␛P>|XTerm(390)␛\\ ␛P1+r544e=78␛\\ ␛_Gi=1;OK␛\\ ␛^x␛\\ ␛Xy␛\\ ␛_a␇ |
    replies | ␛[?1u ␛[?2004;1$y ␛[?2026;2$y ␛[4;2$y ␛[8;24;80t ␛[>4;1m ␛[3;0;0t |
    other sequences | ␛[29;5;9;1z ␛[99999999999999999999~ ␛[;;;~ ␛[1:2:3:4u ␛[<1A ␛[?1;2;3M ␛[!?A |
    plain | ab␛[Aq | a b Up q
    interrupted | ␛[1␍ ␛O␛[A ␛]11;rgb␃ ␛]11␛[B | Enter Up ^C Down
    escape and a key | ␛f ␛␛[B ␛␍ ␛␈ ␛漢 ␛␛ | +f +Down +Enter +Backspace +漢 Esc Esc
    escape and no key | ␛␛[99z ␛␛[I ␛␛]0;x␇ | Esc Esc Esc
    introducers alone | ␛[ ␛O ␛] | +[ +O +]
    cut off | ␛[1;5 ␛O5 ␛]11;rgb: ␛P>|XTe ␛[[ ␛[<0;1;1 |
    """

  private static func bytes(_ text: some StringProtocol) -> [UInt8] {
    let pictures: [(String, String)] = [
      ("␛", "\u{1B}"), ("␇", "\u{07}"), ("␍", "\r"), ("␈", "\u{08}"), ("␃", "\u{03}"),
    ]
    return Array(pictures.reduce(String(text)) { $0.replacing($1.0, with: $1.1) }.utf8)
  }

  private static func name(_ event: InputEvent) -> String? {
    switch event {
    case .key(let key): key.description
    case .escaped(let key): "+" + key.description
    case .canSynchronize, .background, .cursor: nil
    case .unreadable: "unreadable"
    }
  }

  private func keys(_ text: String) -> [InputEvent] {
    var parser = InputParser()
    return parser.take(Self.bytes(text)) + parser.timeOut()
  }

  @Test("Sequences of real terminals become their keys, and nothing else is a key")
  func terminals() {
    for line in Self.table.split(separator: "\n") {
      let parts = line.split(separator: " |", omittingEmptySubsequences: false)
      var parser = InputParser()
      let events = parts[1].split(separator: " ").flatMap { word in
        parser.take(Self.bytes(word)) + parser.timeOut()
      }
      let found = events.compactMap(Self.name).joined(separator: " ")
      #expect(found == parts[2].dropFirst(), "\(parts[0]): \(parts[1])")
    }
  }

  @Test("Terminal replies are distinguished from keys")
  func replies() {
    #expect(keys("␛[?2026;2$y") == [.canSynchronize(true)])
    for (reply, isLight) in [
      ("rgb:1e1e/1e1e/2e2e", false), ("rgb:ffff/ffff/ffff", true), ("rgb:f/f/e", true),
      ("rgba:fa/f4/ed/ff", true), ("rgb:0000/0000/0000", false),
    ] {
      for end in ["␛\\", "\u{7}", "\u{9C}"] {
        #expect(
          keys("␛]11;\(reply)\(end)j") == [.background(isLight: isLight), .key(.character("j"))]
        )
      }
    }
    for reply in [
      "]11;?", "]11;rgb:", "]11;rgb:1e/1e", "]11;rgb:12345/0/0", "]11;rgb:xx/00/00",
      "]10;rgb:f/f/f",
      "P11;rgb:f/f/f", "]11;rgb:-1/0/0",
    ] { #expect(keys("␛\(reply)␛\\j") == [.key(.character("j"))], "\(reply)") }
    #expect(keys("␛[?2026;0$y") == [.canSynchronize(false)])
    #expect(keys("␛[2;3R␛[12;34R") == [.cursor(row: 2, column: 3), .cursor(row: 12, column: 34)])
  }

  @Test("Every mouse encoding is parsed, and other buttons are ignored")
  func mouse() {
    func event(_ kind: MouseEvent.Kind, _ column: Int, _ row: Int) -> InputEvent {
      .key(.mouse(MouseEvent(kind: kind, position: Position(row: row, column: column))))
    }
    #expect(keys("␛[<0;301;5M␛[<0;301;5m") == [event(.press, 300, 4), event(.release, 300, 4)])
    #expect(keys("␛[<64;1;1M␛[<65;1;1M") == [event(.wheelUp, 0, 0), event(.wheelDown, 0, 0)])
    #expect(
      keys("␛[M '#␛[M#'#␛[M`'#") == [
        event(.press, 6, 2), event(.release, 6, 2), event(.wheelUp, 6, 2),
      ]
    )
    #expect(keys("␛[M \u{12C}%q") == [event(.press, 267, 4), .key(.character("q"))])
    #expect(keys("␛[32;301;5M␛[35;2;2M") == [event(.press, 300, 4), event(.release, 1, 1)])
    #expect(keys("␛[<35;9;9M␛[<2;3;4M␛[<0;0;1M␛[<0;1;2x␛[<1;2M␛[<66;1;1M") == [])
    #expect(keys("␛[M !␛[A") == [.key(.up)])
    var parser = InputParser()
    #expect(
      parser.take(Array("\u{1B}[M ".utf8) + [0xE0, 0xC8, 0x71]) == [
        event(.press, 191, 167), .key(.character("q")),
      ]
    )
  }

  @Test("A paste has no time limit, and its markers may arrive in pieces")
  func paste() {
    var parser = InputParser()
    var events: [InputEvent] = []
    for piece in ["␛[2", "00", "~a␍q", "漢␛[A␛[20", "2~␛", "[201~c"] {
      events += parser.take(Self.bytes(piece))
      if piece != "␛[2", piece != "00" { events += parser.timeOut() }
    }
    #expect(events == [.key(.paste("a\rq漢\u{1B}[A\u{1B}[202~")), .key(.character("c"))])
    #expect(keys("␛␛[200~q␛[201~") == [.key(.escape), .key(.paste("q"))])
    #expect(keys("␛[201~x") == [.key(.character("x"))])
  }

  @Test("Malformed and truncated characters are reported without affecting later keys")
  func malformed() {
    let lost = InputEvent.unreadable(.notUTF8)
    let a = InputEvent.key(.character("a"))
    var parser = InputParser()
    #expect(parser.take([0xE6, 0xBC, 0x1B, 0x5B, 0x41]) == [lost, .key(.up)])
    #expect(parser.take([0x1B, 0xE6, 0xBC, 0x61]) == [.key(.escape), lost, a])
    #expect(parser.take([0xC0, 0x80, 0xFF, 0x9B, 0x61]) == [lost, lost, lost, lost, a])
    // The letters of Latin-1, alone, before ASCII and before each other.
    #expect(parser.take([0xE6]) == [] && parser.patience != nil)
    #expect(parser.timeOut() == [lost] && parser.patience == nil)
    #expect(parser.take([0xFC, 0x62, 0xE9, 0xE8, 0x61]).count == 5)
    #expect(parser.take([0xE9, 0x0D]) == [lost, .key(.enter)])
    // Overlong forms, surrogates and values that are too large.
    #expect(parser.take([0xE0, 0x80, 0xAF, 0x61]) == [lost, a])
    #expect(parser.take([0xED, 0xA0, 0xBD, 0xED, 0xB8, 0x80, 0x61]) == [lost, lost, a])
    #expect(parser.take([0xF4, 0x90, 0x80, 0x80, 0x61]) == [lost, a])
    // No text is missing where a sequence is unknown.
    #expect(parser.take(Array("\u{1B}]0;".utf8) + [0xE9, 0xFF, 0x07, 0x61]) == [a])
    #expect(parser.take([0xC2, 0x85, 0x61]) == [a])
    // Controls of one character, which a terminal may use instead of two.
    #expect(
      parser.take(Array("\u{9B}A\u{8F}P\u{9D}0;x\u{9C}\u{85}q".utf8)).compactMap(Self.name) == [
        "Up", "F1", "q",
      ]
    )
  }

  @Test("A paste keeps what is UTF-8, and marks the place of what is not")
  func malformedPaste() {
    let pastes: [([UInt8], String)] = [
      ([0x61, 0xE9, 0x62], "a\u{FFFD}b"),
      ([0x61, 0xE9], "a\u{FFFD}"),
      ([0xE6, 0xBC], "\u{FFFD}"),
      ([0xFC, 0xC3, 0xBC, 0xFF], "\u{FFFD}ü\u{FFFD}"),
      ([0xED, 0xA0, 0x80, 0x1B, 0x5B, 0x32, 0x62], "\u{FFFD}\u{1B}[2b"),
      ([0xE9, 0x1B, 0x5B, 0x41, 0x0D], "\u{FFFD}\u{1B}[A\r"),
      ([0xC0, 0xAF], "\u{FFFD}\u{FFFD}"),
    ]
    let (start, end) = (Array("\u{1B}[200~".utf8), Array("\u{1B}[201~".utf8))
    for (bytes, text) in pastes {
      let expected: [InputEvent] = [
        .unreadable(.notUTF8), .key(.paste(text)), .key(.character("q")),
      ]
      var whole = InputParser()
      #expect(whole.take(start + bytes + end + [0x71]) == expected)
      var single = InputParser()
      var events: [InputEvent] = []
      for byte in start + bytes + end + [0x71] { events += single.take([byte]) }
      #expect(events == expected)
      // The next paste begins anew.
      #expect(whole.take(start + [0x61] + end) == [.key(.paste("a"))])
    }
  }

  @Test("Without UTF-8, non-ASCII input is reported as unreadable")
  func notUTF8() {
    var parser = InputParser(isUTF8: false)
    let lost = InputEvent.unreadable(.notASCII)
    #expect(parser.take([0xC3, 0x9B, 0x41]) == [lost, lost, .key(.character("A"))])
    let paste = Array("\u{1B}[200~aü\u{1B}[201~".utf8)
    #expect(parser.take(paste) == [lost, .key(.paste("a\u{FFFD}\u{FFFD}"))])
  }

  @Test("Unterminated sequences are bounded")
  func endless() {
    var parser = InputParser()
    let digits = [UInt8](repeating: UInt8(ascii: "1"), count: InputParser.sequenceLimit)
    #expect(parser.take(Array("\u{1B}[".utf8) + digits.dropLast(2)) == [])
    #expect(parser.timeOut() == [])
    #expect(parser.take(Array("\u{1B}[".utf8) + digits).count <= 2)
    let long = [UInt8](repeating: UInt8(ascii: "q"), count: InputParser.stringLimit - 1)
    #expect(parser.take(Array("\u{1B}]".utf8) + long + [0x07, 0x61]) == [.key(.character("a"))])
  }

  @Test("The terminal description adds its keys")
  func described() {
    let bytes = { (text: String) in Array(text.utf8) }
    var parser = InputParser(described: [bytes("\u{1B}[M"): .function(1), bytes("\u{1B}A"): .up])
    #expect(
      parser.take(bytes("\u{1B}[M!\u{1B}A")) == [
        .key(.function(1)), .key(.character("!")), .key(.up),
      ]
    )
  }
}
