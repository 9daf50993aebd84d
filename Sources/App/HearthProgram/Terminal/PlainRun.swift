import BlogModel
import BlogTUI
import Foundation

/// The blog as lines: one for each event, with commands typed at a prompt.
///
/// Commands from a pipe wait for the posts that the server has now, and its end for the answers, but
/// not for ever.
@MainActor
struct PlainRun {
  let blog: LiveBlog
  /// Whether what was not sent is stored when this ends.
  let keepsWrites: Bool
  /// How long commands from a pipe wait while nothing but the connection changes.
  private static let patience = Duration.seconds(10)

  /// Runs until `quit` or the end of the input, and returns how it ended.
  func run() -> Ending {
    var plain = PlainBlog(me: blog.me, keepsWrites: keepsWrites)
    var pipe: [Int32] = [-1, -1]
    guard Foundation.pipe(&pipe) == 0 else { return .quit }
    defer { for descriptor in pipe { close(descriptor) } }
    let writer = pipe[1]
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
    _ = fcntl(pipe[0], F_SETFL, O_NONBLOCK)
    // Nil comes once what was reported is what the server has.
    let mailbox = Mailbox<BlogEvent?> {
      var byte: UInt8 = 1
      _ = write(writer, &byte, 1)
    }
    blog.start { mailbox.add($0) }
    blog.request(.follow(.recent))
    blog.request(.hearNotices(true))
    var input = LineInput()
    var lines: [String] = []
    var isAtEnd = false
    let isPiped = isatty(STDIN_FILENO) == 0
    var isWaiting = isPiped
    // The first posts may be those that an earlier run has stored.
    var asksForCurrent = isPiped
    var deadline = ContinuousClock.now + Self.patience
    while true {
      var descriptors = [
        // While commands wait, further ones stay in the pipe.
        pollfd(fd: isWaiting || isAtEnd ? -1 : STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0),
      ]
      let isBounded = isWaiting || isAtEnd || !lines.isEmpty
      let rest = max(.zero, ContinuousClock.now.duration(to: deadline))
      poll(&descriptors, 2, isBounded ? Int32(rest / .milliseconds(1)) : -1)
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(pipe[0], &bytes, bytes.count) > 0 {}
      let events = mailbox.takeAll()
      for case .some(let event) in events { show(plain.take(event)) }
      if asksForCurrent, plain.isReady {
        asksForCurrent = false
        blog.whenCurrent { mailbox.add(nil) }
      }
      // Without a server, there is an attempt to connect each second, and more commands may come.
      let isFirst = descriptors[0].revents != 0 && lines.isEmpty
      let isNews = events.contains { $0?.isOfConnection != true }
      if isFirst || isNews { deadline = .now + Self.patience }
      let isLate = isBounded && deadline <= .now
      if isLate || events.contains(nil) { isWaiting = false }
      if descriptors[0].revents != 0 {
        if let new = input.read(STDIN_FILENO) { lines += new } else { isAtEnd = true }
        if input.hasUnreadable {
          show(["What is not UTF-8 cannot be read; \u{FFFD} stands for it."])
        }
      }
      // One command after the other: each sees what the one before has done.
      while !lines.isEmpty, !isPiped || isLate || plain.isSettled {
        let answer = plain.run(lines.removeFirst(), now: blog.now)
        show(answer.lines)
        for effect in answer.effects where !perform(effect) { return ending(of: plain) }
      }
      if isAtEnd, lines.isEmpty, !isPiped || isLate || plain.isSettled {
        show([plain.unfinished].compactMap(\.self))
        guard let failure = input.failure else { return ending(of: plain) }
        Output.message(failure.description)
        return .refused
      }
    }
  }

  /// Only whoever types the commands sees what was refused.
  private func ending(of plain: PlainBlog) -> Ending {
    isatty(STDIN_FILENO) != 0 || plain.isDone ? .quit : .refused
  }

  private func show(_ lines: [String]) {
    for line in lines { Output.line(untrusted: line, limit: BlogBounds.body) }
  }

  /// Performs an effect; false if the user quits.
  private func perform(_ effect: Effect) -> Bool {
    switch effect {
    case .write(let action): blog.perform(action)
    case .mark(let change): blog.mark(change)
    case .request(let request): blog.request(request)
    case .quit: return false
    case .search, .terminal, .environment, .changeAccount: break
    }
    return true
  }
}

extension BlogEvent {
  /// Whether this tells of the connection only.
  fileprivate var isOfConnection: Bool {
    switch self {
    case .connection, .connectionProblem, .silence, .roundTrip, .pendingWrites: true
    default: false
    }
  }
}

/// Assembles lines from the chunks that a terminal or a pipe delivers.
private struct LineInput {
  /// The most bytes of a line, which is far more than a post has.
  private static let longest = 1_024 * 1_024

  private var rest: [UInt8] = []
  private var hasBegun = false
  /// Whether the last lines have something that is not UTF-8.
  private(set) var hasUnreadable = false
  /// Why the input cannot be read to its end; nil if it can.
  private(set) var failure: CommandFailure?

  /// Reads the available lines; nil at the end of the input.
  mutating func read(_ descriptor: Int32) -> [String]? {
    hasUnreadable = false
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Foundation.read(descriptor, &buffer, buffer.count)
    if count < 0 {
      if [EINTR, EAGAIN].contains(errno) { return [] }
      failure = .unreadable("stdin", errno)
    }
    guard count > 0 || !rest.isEmpty && failure == nil else { return nil }
    // The last line need not have an end.
    let newline = UInt8(ascii: "\n")
    let known = rest.count
    rest += count > 0 ? buffer[..<count] : [newline]
    // A long line comes in many parts, and the earlier ones have no end.
    guard let end = rest[known...].lastIndex(of: newline) else {
      guard rest.count > Self.longest else { return [] }
      failure = CommandFailure(.usage, "stdin has a line of more than \(Self.longest) bytes")
      return nil
    }
    let ended = rest[..<end].split(separator: newline, omittingEmptySubsequences: false)
    rest.removeFirst(end + 1)
    return ended.map { bytes in
      // Files from Windows have another line end, and a mark at the beginning.
      let whole = hasBegun ? bytes : bytes.withoutByteOrderMark
      let line = whole.last == UInt8(ascii: "\r") ? whole.dropLast() : whole
      hasBegun = true
      if String(validating: line, as: UTF8.self) == nil { hasUnreadable = true }
      return String(decoding: line, as: UTF8.self)
    }
  }
}
