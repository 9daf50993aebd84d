import BlogModel
import BlogTUI
import Foundation
import NIOConcurrencyHelpers

/// The blog as lines: one for each event, with commands typed at a prompt.
@MainActor
struct PlainRun {
  private let blog: LiveBlog

  /// Makes a run for a blog.
  init(_ blog: LiveBlog) {
    self.blog = blog
  }

  /// Runs until `quit` or the end of the input, and returns how it ended.
  func run() -> Ending {
    var plain = PlainBlog(me: blog.me)
    let events = NIOLockedValueBox<[BlogEvent]>([])
    var pipe: [Int32] = [-1, -1]
    guard Foundation.pipe(&pipe) == 0 else { return .quit }
    defer { for descriptor in pipe { close(descriptor) } }
    let writer = pipe[1]
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
    _ = fcntl(pipe[0], F_SETFL, O_NONBLOCK)
    blog.start { event in
      events.withLockedValue { $0.append(event) }
      var byte: UInt8 = 1
      _ = write(writer, &byte, 1)
    }
    blog.follow(.recent)
    var input = LineInput()
    while true {
      var descriptors = [
        pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
        pollfd(fd: pipe[0], events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&descriptors, 2, -1)
      var bytes = [UInt8](repeating: 0, count: 256)
      while read(pipe[0], &bytes, bytes.count) > 0 {}
      let taken = events.withLockedValue { events in
        defer { events = [] }
        return events
      }
      for event in taken { show(plain.take(event)) }
      guard descriptors[0].revents != 0 else { continue }
      guard let lines = input.read(STDIN_FILENO) else { return .quit }
      for line in lines {
        let answer = plain.run(line)
        show(answer.lines)
        for effect in answer.effects where !perform(effect) { return .quit }
      }
    }
  }

  private func show(_ lines: [String]) {
    for line in lines { Output.line(untrusted: line) }
  }

  /// Performs an effect; false if the user quits.
  private func perform(_ effect: Effect) -> Bool {
    switch effect {
    case .open(let id): blog.open(id)
    case .close(let id): blog.close(id)
    case .post(let title, let body): _ = blog.post(title: title, body: body)
    case .comment(let id, let text, let answered):
      _ = blog.comment(on: id, text: text, answering: answered)
    case .star(let id, let isStarred): blog.setStar(id, to: isStarred)
    case .deletePost(let id): blog.deletePost(id)
    case .quit: return false
    case .follow, .stopFollowing, .read, .showFirst, .edit, .editComment, .mark, .markAllRead,
      .markStars, .editTextExternally, .typing, .hearNotices, .followAuthor, .notify,
      .deleteComment, .redraw,
      .suspend, .bell, .editExternally,
      .copy, .openLink, .write, .keepHistory, .keepSetting, .configureTerminal, .watchWire,
      .watchComments, .network, .changeAccount, .search, .stopSearching:
      break
    }
    return true
  }
}

/// Assembles lines from the chunks that a terminal or a pipe delivers.
private struct LineInput {
  private var rest: [UInt8] = []

  /// Reads the available lines; nil at the end of the input.
  mutating func read(_ descriptor: Int32) -> [String]? {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = Foundation.read(descriptor, &buffer, buffer.count)
    guard count > 0 else { return count < 0 && errno == EINTR ? [] : nil }
    rest += buffer[..<count]
    var lines: [String] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest.removeFirst(end + 1)
    }
    return lines
  }
}
