import BlogModel
import BlogSwarm
import Foundation
import RealtimeDatabase

/// People without a terminal who star the newest post on and on: the transactions that are counted.
struct DemoCrowd: Sendable {
  private static let names = ["gale", "hana"]
  /// How long somebody waits between two stars.
  private static let pause = Duration.milliseconds(400)

  private let url: String
  private let board: DemoBoard

  /// Makes a crowd, which does nothing yet.
  init(url: String, board: DemoBoard) {
    self.url = url
    self.board = board
  }

  /// Lets them star until the demonstration is over.
  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for name in Self.names { group.addTask { await run(name) } }
    }
  }

  private func run(_ name: String) async {
    guard let me = try? Author(userName: name),
      let database = try? Database(url: url, options: DatabaseOptions())
    else { return }
    database.callbackQueue = DispatchQueue(label: "hearth.demo.\(name)")
    database.observeDiagnostics { [board] in note($0, on: board) }
    // Who follows the posts guesses right, so that only real races are tried again.
    database.reference().observe(.value) { _ in }
    let blog = Blog(database: database, me: me)
    var isStarred = false
    while !board.now.hasEnded {
      if let post = try? await blog.posts(.recent).first {
        isStarred.toggle()
        try? await blog.setStar(isStarred, on: post.id)
      }
      await Pause.lasting(Self.pause)
    }
    await database.close()
  }

  /// An attempt tells its number, and each after the first is a repetition.
  private func note(_ diagnostic: Diagnostic, on board: DemoBoard) {
    guard case .transaction = diagnostic.kind, diagnostic.title.hasPrefix("attempt ") else {
      return
    }
    let isFirst = diagnostic.title.hasPrefix("attempt 1 ")
    board.with { figures in
      figures.attempts += 1
      if !isFirst { figures.retries += 1 }
    }
  }
}
