import CNcurses
import Glibc

/// Ends the wait of a terminal's event loop from any thread.
package final class Waker: Sendable {
  let descriptor: Int32

  /// Makes a waker.
  ///
  /// - Throws: ``TerminalError/systemFailure(_:code:)`` if the process has no descriptor left.
  package init() throws(TerminalError) {
    descriptor = nc_eventfd()
    guard descriptor >= 0 else { throw .systemFailure("eventfd", code: errno) }
  }

  deinit {
    close(descriptor)
  }

  /// Ends the current wait immediately, or otherwise the next one; never blocks.
  package func wake() {
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
  /// The largest number of events in one call, so that a flood of keys cannot block drawing.
  private static let batchLimit = 4_096
  /// The number of mouse reports that ncurses keeps.
  private static let mouseQueueLength = 8
  /// How long to wait for the end of a paste, in milliseconds.
  private static let pasteTimeout: Int32 = 1_000

  /// Waits for something to happen and returns all of it, in order.
  ///
  /// - Parameters:
  ///   - timeout: How long to wait; nil waits forever.
  ///   - waker: Ends the wait from another thread, which is reported as ``TerminalEvent/woken``.
  /// - Returns: What happened; empty after a timeout.
  package func nextEvents(timeout: Duration? = nil, waker: Waker? = nil) -> [TerminalEvent] {
    TerminalGuard.unblockSignals()
    var descriptors = [
      pollfd(fd: isHungUp ? -1 : input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: TerminalGuard.reader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: waker?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let ready = wait(&descriptors, milliseconds: Self.milliseconds(timeout))
    var events: [TerminalEvent] = []
    if descriptors[1].revents != 0 { handleSignals(&events) }
    let isDisconnected = descriptors[0].revents & Int16(POLLHUP | POLLERR | POLLNVAL) != 0
    if descriptors[0].revents & Int16(POLLIN) != 0 || mayHoldInput {
      readKeys(&events)
    } else if ready == 0, let ended = paste, !isHungUp {
      // The end mark was lost: deliver the text rather than seem to hang.
      paste = nil
      events.append(.key(.paste(ended.text)))
    }
    if descriptors[2].revents != 0, waker?.drain() == true { events.append(.woken) }
    if isDisconnected {
      isHungUp = true
      events.append(.hangUp)
    }
    return events
  }

  private func wait(_ descriptors: inout [pollfd], milliseconds: Int32) -> Int32 {
    var limit = paste == nil ? milliseconds : Self.pasteTimeout
    if mayHoldInput { limit = 0 }
    let count = nfds_t(descriptors.count)
    let ready = poll(&descriptors, count, limit)
    // A signal ended the wait; this program's handler has already written a byte to the pipe.
    return ready < 0 ? poll(&descriptors, count, 0) : ready
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

  private func readKeys(_ events: inout [TerminalEvent]) {
    mayHoldInput = false
    while events.count < Self.batchLimit {
      switch nextInput() {
      case .nothing:
        return
      case .code(let code) where paste != nil:
        finishPaste(code, into: &events)
      case .scalar(let scalar) where paste != nil:
        paste?.append(scalar)
      case .scalar(let scalar) where mouseReport != nil:
        guard case .complete(let key)? = mouseReport?.append(scalar) else { break }
        mouseReport = nil
        if let key { events.append(.key(key)) }
      case .code(let code):
        handleCode(code, into: &events)
      case .scalar("\u{1A}"):
        suspend(&events)
      case .scalar("\u{1B}"):
        readAfterEscape(&events)
      case .scalar(let scalar):
        if let key = KeyDecoder.key(scalar: scalar) { events.append(.key(key)) }
      }
    }
    mayHoldInput = true
  }

  /// Reads bytes until they form a key or a character; an incomplete character waits for its rest.
  ///
  /// The wide function of ncurses would lose the first part.
  private func nextInput() -> KeyInput {
    while true {
      let value = wgetch(nc_stdscr())
      if value == ERR { return .nothing }
      guard let byte = UInt8(exactly: value) else { return .code(value) }
      if let scalar = assembler.append(byte) { return .scalar(scalar) }
    }
  }

  private func handleCode(_ code: Int32, into events: inout [TerminalEvent]) {
    if code == KeyDecoder.Code.pasteStart {
      paste = PasteBuffer()
    } else if code == KeyDecoder.Code.mouseReport {
      mouseReport = MouseReport()
    } else if code == KeyDecoder.Code.canSynchronize || code == KeyDecoder.Code.cannotSynchronize {
      wasAnswered(canSynchronize: code == KeyDecoder.Code.canSynchronize)
    } else if let answer = EmojiMeasure.answer(of: code) {
      wasMeasured(answer.number, isRight: answer.isRight)
    } else if code == KEY_MOUSE {
      events += mouseKeys().map { .key($0) }
    } else if let key = KeyDecoder.key(code: code) {
      events.append(.key(key))
    }
  }

  /// The reports behind one key code, oldest first; ncurses returns the newest first.
  private func mouseKeys() -> [KeyEvent] {
    var keys: [KeyEvent] = []
    var event = MEVENT()
    while keys.count < Self.mouseQueueLength, getmouse(&event) == OK {
      if let key = KeyDecoder.key(mouse: event) { keys.append(key) }
    }
    return keys.reversed()
  }

  private func finishPaste(_ code: Int32, into events: inout [TerminalEvent]) {
    guard code == KeyDecoder.Code.pasteEnd, let ended = paste else { return }
    paste = nil
    events.append(.key(.paste(ended.text)))
  }

  /// Reads a key right after an escape, which was typed with Alt; ncurses has already waited for
  /// it.
  private func readAfterEscape(_ events: inout [TerminalEvent]) {
    switch nextInput() {
    case .nothing:
      events.append(.key(.escape))
    case .scalar("\u{1B}"):
      events += [.key(.escape), .key(.escape)]
    case .code(let code) where Self.followsEscape(code):
      events.append(.key(.escape))
      handleCode(code, into: &events)
    case .code(let code):
      if let key = KeyDecoder.key(code: code) { events.append(.key(.alt(key))) }
    case .scalar(let scalar):
      if let key = KeyDecoder.key(scalar: scalar) { events.append(.key(.alt(key))) }
    }
  }

  /// Whether the code cannot be a key that was typed with Alt.
  private static func followsEscape(_ code: Int32) -> Bool {
    code == KEY_MOUSE || code == KEY_RESIZE || code == KeyDecoder.Code.pasteStart
      || code == KeyDecoder.Code.pasteEnd
  }
}
