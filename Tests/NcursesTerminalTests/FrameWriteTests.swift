import CNcurses
import Foundation
import TerminalUI
import Testing

@testable import NcursesTerminal

/// A descriptor whose other end tells one write from the next.
private final class Messages {
  private let ends: (reader: Int32, writer: Int32)

  init() throws {
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &pair) == 0)
    ends = (pair[0], pair[1])
  }

  deinit {
    close(ends.reader)
    close(ends.writer)
  }

  var descriptor: Int32 { ends.writer }

  /// What each write since has brought.
  func taken() -> [String] {
    var writes: [String] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(ends.reader, &buffer, buffer.count)
      guard count > 0 else { return writes }
      writes.append(String(decoding: buffer[..<count], as: UTF8.self))
    }
  }
}

/// Extends the serialized suite: ncurses has one terminal at a time.
extension NcursesTerminalTests {
  private static let options = TerminalOptions(colorMode: .always, usesOnlyASCII: true)

  /// A terminal of which every write that is a frame's is told by itself.
  private func withMessages(
    _ type: String = "xterm-256color",
    width: UInt16 = 80,
    height: UInt16 = 24,
    answer: String? = nil,
    _ body: (PseudoTerminal, NcursesTerminal, Messages) throws -> Void
  ) throws {
    let pseudo = try PseudoTerminal(type: type, width: width, height: height)
    let terminal = try NcursesTerminal.open(Self.options, on: pseudo.device)
    if let answer {
      pseudo.type(answer)
      #expect(terminal.nextEvents(timeout: .seconds(5)) == [])
    }
    let messages = try Messages()
    let kept = dup(pseudo.device.output)
    defer {
      dup2(kept, pseudo.device.output)
      close(kept)
      terminal.close()
    }
    _ = pseudo.written()
    dup2(messages.descriptor, pseudo.device.output)
    try body(pseudo, terminal, messages)
  }

  /// A screen that is full of words of changing styles.
  private func page(_ size: Size, _ number: Int, cursor: Position? = nil) -> Screen {
    var screen = Screen(size: size)
    for row in 0..<size.height {
      for column in 0..<size.width / 6 {
        let style = Style(
          foreground: .indexed(UInt8((row + column + number) % 250)),
          attributes: column.isMultiple(of: 2) ? .bold : .reverse
        )
        let text = SafeText(untrusted: "w\((row + column) % 10)o\(number % 10)d ")
        screen.put(text, at: Position(row: row, column: column * 6), style: style)
      }
    }
    screen.cursor = cursor
    return screen
  }

  @Test(
    "A frame is one write, however long it is and wherever the cursor goes",
    arguments: ["xterm-256color", "screen-256color", "xterm", "vt220", "linux", "vt100"]
  )
  func oneWrite(type: String) throws {
    try withMessages(type) { pseudo, terminal, messages in
      let cursors: [Position?] = [nil, Position(row: 3, column: 4), nil, nil]
      for (number, cursor) in cursors.enumerated() {
        terminal.render(page(terminal.size, number, cursor: cursor))
        let writes = messages.taken()
        #expect(writes.map { $0.contains("w9o\(number)d") } == [true])
        // More than the buffer of ncurses has room for.
        #expect(number > 0 || (writes.first?.utf8.count ?? 0) > (80 + 6) * (24 + 2))
      }
      terminal.render(page(terminal.size, 3))
      #expect(messages.taken() == [])
      // Nothing went past it.
      #expect(pseudo.written() == "")
    }
  }

  @Test("A frame that is shown at once is one write with its marks")
  func oneWriteWithMarks() throws {
    try withMessages(answer: "\u{1B}[?2026;2$y") { pseudo, terminal, messages in
      terminal.render(page(terminal.size, 1, cursor: Position(row: 1, column: 1)))
      let frame = try #require(messages.taken().first)
      #expect(frame.hasPrefix("\u{1B}[?2026h") && frame.hasSuffix("\u{1B}[?2026l"))
      #expect(frame.contains("w9o1d") && frame.contains("\u{1B}[?25h"))
      #expect(messages.taken() == [] && pseudo.written() == "")
    }
  }

  @Test("ncurses itself writes a page of few letters once, not once for each row")
  func buffering() throws {
    try withMessages { _, terminal, messages in
      for number in 0..<3 {
        var screen = Screen(size: terminal.size)
        for row in 0..<terminal.size.height {
          let text = SafeText(untrusted: "row \(number)")
          screen.put(text, at: Position(row: row, column: row))
        }
        let before = try writeCalls()
        terminal.render(screen)
        // Of the cursor, of the frame to the file in memory, and from there.
        #expect(try writeCalls() - before <= 3)
        #expect(messages.taken().count == 1)
      }
    }
  }

  /// How many calls of `write` this thread has made.
  private func writeCalls() throws -> Int {
    let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("syscw: ") }
    return try #require(line.flatMap { Int($0.dropFirst(7)) })
  }

  @Test("A frame is whole although keys wait to be read")
  func typeahead() throws {
    try withMessages { pseudo, terminal, messages in
      terminal.render(page(terminal.size, 1))
      pseudo.type("jjjj")
      _ = messages.taken()
      terminal.render(page(terminal.size, 2))
      let rows = messages.taken().joined().components(separatedBy: "o2d").count - 1
      #expect(rows >= 24 * (80 / 6))
    }
  }

  @Test("Opening shows nothing but a screen to draw on", arguments: ["xterm-256color", "tmux"])
  func openingIsUnseen(type: String) throws {
    let pseudo = try PseudoTerminal(type: type)
    let terminal = try NcursesTerminal.open(Self.options, on: pseudo.device)
    defer { terminal.close() }
    let opened = pseudo.written()
    #expect(opened.components(separatedBy: "\u{1B}[?1049h").count == 2)
    #expect(!opened.contains("\u{1B}[?1049l") && !opened.contains("\u{1B}[H"))
    pseudo.type("j")
    #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
    #expect(pseudo.written() == "")
    terminal.render(Screen(size: terminal.size))
    #expect(pseudo.written().contains("\u{1B}[H\u{1B}["))
  }

  @Test("What a terminal needs once reaches it", arguments: ["vt220", "linux", "vt100"])
  func preparation(type: String) throws {
    let pseudo = try PseudoTerminal(type: type)
    let terminal = try NcursesTerminal.open(Self.options, on: pseudo.device)
    defer { terminal.close() }
    #expect(pseudo.written().contains("\u{1B})0"))
  }

  @Test("After another program had the terminal, keys arrive and frames are one write again")
  func resuming() throws {
    let pseudo = try PseudoTerminal()
    let terminal = try NcursesTerminal.open(Self.options, on: pseudo.device)
    defer { terminal.close() }
    terminal.render(page(terminal.size, 1))
    let inside = pseudo.modes
    terminal.withSuspendedScreen {}
    _ = pseudo.written()
    terminal.render(page(terminal.size, 1))
    let entered = pseudo.written()
    #expect(entered.contains("\u{1B}[?1049h") && entered.contains("w9o1d"))
    #expect(pseudo.modes == inside)
    pseudo.type("j")
    #expect(terminal.nextEvents(timeout: .seconds(5)) == [.key(.character("j"))])
    _ = pseudo.written()
    let messages = try Messages()
    let kept = dup(pseudo.device.output)
    dup2(messages.descriptor, pseudo.device.output)
    terminal.render(page(terminal.size, 2))
    dup2(kept, pseudo.device.output)
    close(kept)
    #expect(messages.taken().count == 1 && pseudo.written() == "")
  }

  @Test("Other programs do not inherit what a frame is gathered in")
  func inheritance() throws {
    try withMessages { _, terminal, _ in
      terminal.render(page(terminal.size, 1))
      var found = 0
      for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
        let link = "/proc/self/fd/\(name)"
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
        guard target?.contains("memfd:frame") == true, let descriptor = Int32(name) else {
          continue
        }
        found += 1
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
      }
      #expect(found > 0)
    }
  }
}

@Suite("FrameBuffer")
@MainActor
struct FrameBufferTests {
  @Test("What is written in pieces leaves in one, with the marks around it")
  func pieces() throws {
    let stream = dup(STDERR_FILENO)
    defer { close(stream) }
    let messages = try Messages()
    let frame = try #require(FrameBuffer(stream: stream, terminal: messages.descriptor))
    for text in ["a long one to begin with", "short", ""] {
      frame.write(from: "<", to: ">") {
        for byte in text.utf8 { withUnsafeBytes(of: byte) { _ = write(stream, $0.baseAddress, 1) } }
      }
      #expect(messages.taken() == (text.isEmpty ? [] : ["<\(text)>"]))
    }
    #expect(fcntl(stream, F_GETFD) & FD_CLOEXEC != 0)
    // Between frames the stream is the terminal's.
    _ = write(stream, "x", 1)
    #expect(messages.taken() == ["x"])
  }

  @Test("A terminal that takes less at a time gets the rest, and one that is gone ends it")
  func slowTerminal() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    let stream = dup(STDERR_FILENO)
    defer { close(stream) }
    let frame = try #require(FrameBuffer(stream: stream, terminal: ends[1]))
    let text = [UInt8](repeating: UInt8(ascii: "y"), count: 300_000)
    let reader = ends[0]
    let read = Reading(reader, count: text.count + 2)
    frame.write(from: "<", to: ">") { _ = write(stream, text, text.count) }
    #expect(read.finished() == text.count + 2)
    close(ends[1])
    frame.write(from: "", to: "") { _ = write(stream, text, text.count) }
  }
}

/// Counts what can be read, on a thread of its own.
private final class Reading: @unchecked Sendable {
  // Safety: the thread writes the count before it signals, and it is read after that.
  private var count = 0
  private let isOver = DispatchSemaphore(value: 0)

  init(_ descriptor: Int32, count limit: Int) {
    let thread = Thread { [self] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while count < limit {
        let taken = Glibc.read(descriptor, &buffer, buffer.count)
        guard taken > 0 else { break }
        count += taken
      }
      isOver.signal()
    }
    thread.start()
  }

  func finished() -> Int {
    isOver.wait()
    return count
  }
}
