import CNcurses
import Glibc

/// Ends the wait of a terminal's event loop from any thread.
final class Waker: Sendable {
  let descriptor: Int32

  /// Makes a waker.
  ///
  /// - Throws: ``TerminalError/systemFailure(_:code:)`` if the process has no descriptor left.
  init() throws(TerminalError) {
    descriptor = nc_eventfd()
    guard descriptor >= 0 else { throw .systemFailure("eventfd", code: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Ends the current wait immediately, or otherwise the next one; never blocks.
  func wake() {
    var one: UInt64 = 1
    _ = write(descriptor, &one, 8)
  }

  /// Clears all calls so far; returns whether there were any.
  func drain() -> Bool {
    var count: UInt64 = 0
    return read(descriptor, &count, 8) == 8
  }
}

extension NcursesTerminal {
  /// The largest number of bytes in one call, so that a flood of keys cannot block drawing.
  private static let batchLimit = 4_096

  /// Ends the wait for events, which is reported as ``TerminalEvent/woken``; any thread may call it.
  package var wake: @Sendable () -> Void { { [waker] in waker.wake() } }

  package func nextEvents(timeout: Duration? = nil) -> [TerminalEvent] {
    TerminalGuard.unblockSignals()
    var descriptors = [
      pollfd(fd: isHungUp ? -1 : input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: TerminalGuard.reader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
    ]
    let patience = inputDeadline.map { max(.zero, $0 - .now) }
    wait(&descriptors, for: [timeout, patience].compactMap(\.self).min())
    var events: [TerminalEvent] = []
    if descriptors[1].revents != 0 { handleSignals(&events) }
    var isDisconnected = descriptors[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    if descriptors[0].revents & Int16(POLLIN) != 0 {
      if !readInput(&events) { isDisconnected = true }
    } else if let inputDeadline, inputDeadline <= .now {
      add(parser.timeOut(), to: &events)
    }
    if descriptors[2].revents != 0, waker.drain() { events.append(.woken) }
    if isDisconnected {
      isHungUp = true
      events.append(.hangUp)
    }
    let isUnfinished = events.isEmpty && descriptors[0].revents != 0 && inputDeadline != nil
    return isUnfinished ? nextEvents(timeout: timeout) : events
  }

  private func wait(_ descriptors: inout [pollfd], for timeout: Duration?) {
    let count = nfds_t(descriptors.count)
    // A signal ended the wait; this program's handler has already written a byte to the pipe.
    if poll(&descriptors, count, Self.milliseconds(timeout)) < 0 {
      _ = poll(&descriptors, count, 0)
    }
  }

  private static func milliseconds(_ timeout: Duration?) -> Int32 {
    guard let timeout else { return -1 }
    let (seconds, attoseconds) = timeout.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let rest = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
    return seconds < 1_000_000 ? Int32(seconds * 1_000 + rest) : .max
  }

  private func handleSignals(_ events: inout [TerminalEvent]) {
    var isResized = false
    while let signal = TerminalGuard.nextSignal() {
      switch signal {
      case SIGWINCH:
        isResized = true
      case SIGTSTP:
        suspend(&events)
      case SIGCONT:
        resume()
        events.append(.resumed)
        isResized = true
      default:
        events.append(.terminate(signal: signal))
      }
    }
    if isResized, adoptSize() { events.append(.key(.resize(size))) }
  }

  /// Reads what the terminal has sent; returns false if it is gone.
  private func readInput(_ events: inout [TerminalEvent]) -> Bool {
    var bytes = [UInt8](repeating: 0, count: Self.batchLimit)
    let count = read(input, &bytes, bytes.count)
    guard count > 0 else { return count < 0 && [EINTR, EAGAIN].contains(errno) }
    add(parser.take(bytes[..<count]), to: &events)
    return true
  }

  /// Handles input, and notes until when its rest has to come.
  private func add(_ input: [InputEvent], to events: inout [TerminalEvent]) {
    inputDeadline = parser.patience.map { .now + $0 }
    for event in input {
      switch event {
      case .key(.control("z")): suspend(&events)
      case .escaped(.control("z")):
        events.append(.key(.escape))
        suspend(&events)
      case .key(.mouse(let event)) where !Rect(size: size).contains(event.position):
        // The terminal counts pixels, or the window has just become smaller.
        break
      case .key(let key): events.append(.key(key))
      case .escaped(let key): events.append(.escaped(key))
      case .canSynchronize(let canSynchronize):
        wasAnswered()
        wasAnswered(canSynchronize: canSynchronize)
      case .background(let isLight):
        wasAnswered()
        didTellBackground?(isLight)
      case .cursor(let row, let column):
        guard let answer = EmojiMeasure.answer(row: row, column: column) else { break }
        wasMeasured(answer.number, isRight: answer.isRight)
      case .unreadable(let input):
        if events.last != .unreadable(input) { events.append(.unreadable(input)) }
      }
    }
  }
}

extension NcursesTerminal {
  /// The keys that terminfo has for this type of terminal.
  static func describedKeys() -> [[UInt8]: KeyEvent] {
    var names: [(String, KeyEvent)] = [
      ("kcuu1", .up), ("kcud1", .down), ("kcub1", .left), ("kcuf1", .right), ("khome", .home),
      ("kend", .end), ("kpp", .pageUp), ("knp", .pageDown), ("kich1", .insert),
      ("kdch1", .delete), ("kcbt", .backTab), ("kent", .enter),
    ]
    // Those above are function keys with Alt, which have a name of their own here.
    names += (1...48).map { ("kf\($0)", .function($0)) }
    var keys: [[UInt8]: KeyEvent] = [:]
    for (name, key) in names {
      guard let value = nc_string(name) else { continue }
      let sequence = Array(String(cString: value).utf8)
      if sequence.first == 0x1B, sequence.count > 1 { keys[sequence] = key }
    }
    return keys
  }

  /// How long an escape waits for the rest of its sequence: what `ESCDELAY` says, as in ncurses.
  static var escapeDelay: Duration {
    let milliseconds = environment("ESCDELAY").flatMap { Int($0) } ?? 25
    return .milliseconds(min(max(1, milliseconds), 10_000))
  }
}
