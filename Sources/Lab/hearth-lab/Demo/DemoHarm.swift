import BlogModel
import Foundation
import HearthLab
import HearthProgram
import NIOConcurrencyHelpers
import RealtimeDatabase

/// What the speaker can do to the demonstration at any time, by a key.
enum DemoHarm: Int, CaseIterable, Hashable, Sendable {
  /// The server is killed; the next one listens at the same port.
  case kill = 1
  /// The server stands still, until the key is pressed again.
  case freeze
  /// One terminal is cut off, until the key is pressed again.
  case cable
  /// The server's files cannot grow, until the key is pressed again.
  case disk
  /// Six people star the newest post at once.
  case race

  init?(_ digit: Character) {
    guard let number = digit.wholeNumberValue, let harm = DemoHarm(rawValue: number) else {
      return nil
    }
    self = harm
  }

  /// The letter of the band in which it is drawn, and what the key does.
  var signs: (letter: Character, words: String) {
    switch self {
    case .kill: ("K", "kill the server")
    case .freeze: ("F", "freeze it")
    case .cable: ("C", "cut a cable")
    case .disk: ("D", "fill the disk")
    case .race: ("*", "six race")
    }
  }
}

/// Does harm on a thread of its own, whatever the director is waiting for.
final class DemoNemesis: Sendable {
  private struct State {
    /// The process that stands still.
    var frozen: pid_t?
    /// The process whose files cannot grow.
    var full: pid_t?
    var isCut = false
  }

  /// How much the server can still write to a disk that is almost full, in bytes.
  private static let rest: UInt64 = 4_096

  private let folder: DemoFolder
  private let url: String
  private let board: DemoBoard
  private let cable: Cable?
  private let isCableUsed: Bool
  private let work = DispatchQueue(label: "hearth.demo.harm")
  /// Races wait for the server, and must not hold up what lets it go on.
  private let races = DispatchQueue(label: "hearth.demo.races")
  private let state = NIOLockedValueBox(State())

  /// Makes a nemesis; without a cable, the server is not this program's to harm, and a cable at which
  /// nobody is need not be cut.
  init(_ plan: DemoPlan, folder: DemoFolder, url: String, board: DemoBoard, cable: Cable?) {
    self.folder = folder
    self.url = url
    self.board = board
    self.cable = cable
    isCableUsed = plan.hasSomebodyAtCable
  }

  var all: [DemoHarm] {
    cable == nil ? [.race] : DemoHarm.allCases.filter { $0 != .cable || isCableUsed }
  }

  func perform(_ harm: DemoHarm) {
    guard all.contains(harm) else { return }
    (harm == .race ? races : work).async { [self] in
      forgetEnded()
      let words =
        switch harm {
        case .kill: killServer()
        case .freeze: freeze()
        case .cable: cut()
        case .disk: fill()
        case .race: race()
        }
      board.with { figures in
        figures.lastHarm = words
        figures.harmed.insert(harm)
        let state = state.withLockedValue { $0 }
        let lasting: [DemoHarm: Bool] = [
          .freeze: state.frozen != nil, .disk: state.full != nil, .cable: state.isCut,
        ]
        figures.lastingHarm = Set(lasting.filter(\.value).keys)
      }
    }
  }

  /// Forgets a server that has ended, since another process may have its number.
  private func forgetEnded() {
    let server = folder.serverProcess
    state.withLockedValue { state in
      if state.frozen != server { state.frozen = nil }
      if state.full != server { state.full = nil }
    }
  }

  private func killServer() -> String {
    guard let server = folder.serverProcess else { return "no server is running" }
    state.withLockedValue { ($0.frozen, $0.full) = (nil, nil) }
    kill(server, SIGKILL)
    DemoStage.restartServer(in: folder)
    return "server \(server) was killed"
  }

  private func freeze() -> String {
    if let frozen = state.withLockedValue({ $0.frozen }) {
      kill(frozen, SIGCONT)
      state.withLockedValue { $0.frozen = nil }
      return "server \(frozen) goes on"
    }
    guard let server = folder.serverProcess, kill(server, SIGSTOP) == 0 else {
      return "no server is running"
    }
    state.withLockedValue { $0.frozen = server }
    return "server \(server) stands still"
  }

  private func cut() -> String {
    let isCut = state.withLockedValue { state in
      state.isCut.toggle()
      return state.isCut
    }
    cable?.set(isPlugged: !isCut)
    return isCut ? "a cable is cut" : "the cable is back"
  }

  private func fill() -> String {
    if let full = state.withLockedValue({ $0.full }) {
      _ = FileSizeLimit.set(nil, of: full)
      state.withLockedValue { $0.full = nil }
      return "there is room on the disk again"
    }
    guard let server = folder.serverProcess else { return "no server is running" }
    let limit = FileSizeLimit.longestFile(in: folder.data) + Self.rest
    guard FileSizeLimit.set(limit, of: server) else { return "the disk cannot be filled here" }
    state.withLockedValue { $0.full = server }
    return "the disk is full"
  }

  // MARK: Race

  private static let racers = ["rita", "sam", "tess", "uma", "vic", "wes"]

  /// Has six people star the newest post at once, and waits until its count is that of its stars.
  private func race() -> String {
    DemoBeat.wait { [url] in await Self.race(at: url) } ?? ""
  }

  private static func race(at url: String) async -> String {
    var blogs: [(blog: Blog, database: Database)] = []
    for name in racers {
      if let opened = try? Blog.open(as: name, at: url) { blogs.append(opened) }
    }
    var words = "there is no post to race for"
    if let first = blogs.first, let post = try? await first.blog.posts(.recent).first {
      let isStarred = !racers.contains { post.stars.contains($0) }
      await withTaskGroup(of: Void.self) { group in
        for (blog, _) in blogs {
          group.addTask { _ = try? await blog.perform(.star(post.id, isStarred)) }
        }
      }
      let after = try? await first.blog.posts(.recent).first { $0.id == post.id }
      let count = after.map { "\($0.starCount) counted, \($0.stars.count) given" } ?? "it is gone"
      words = "six at once \(isStarred ? "starred" : "unstarred") \(post.title): \(count)"
    }
    for (_, database) in blogs { await database.close() }
    return words
  }
}
