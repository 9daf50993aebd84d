import RealtimeCore
import RealtimeHub
import SQLiteStorage

/// Opening a large database.
struct StoreBenchmarks {
  /// Eight leaves each.
  private static let posts = 125_000

  let place: Place

  var all: [Benchmark] {
    [
      Benchmark(
        "server/open-1M-leaves",
        against: .millionKeys,
        aims: [.atMost(.time(.milliseconds(500)))],
        prepare: {
          let folder = try TemporaryFolder(in: place.folder)
          try fill(folder)
          return {
            let clock = ContinuousClock()
            let begin = clock.now
            let store = try SQLiteTreeStore(directory: folder.path, now: BlogTree.time)
            let tree = try store.load()
            let time = clock.now - begin
            keep(Int(tree.revision))
            try store.close()
            return .time(time)
          }
        }
      )
    ]
  }

  /// Writes the posts, a thousand at a time, and has everything folded.
  private func fill(_ folder: TemporaryFolder) throws {
    let store = try SQLiteTreeStore(directory: folder.path, now: BlogTree.time)
    let width = 1_000
    for (number, first) in stride(from: 0, to: Self.posts, by: width).enumerated() {
      let changes = try (first..<first + width).map { post in
        Change(Path([BlogTree.posts, SamplePosts.key(post)]), try SamplePosts.node(post))
      }
      let commit = Commit(revision: Int64(number + 1), timestamp: BlogTree.time, changes: changes)
      try store.commit(CommitBatch(commits: [commit]))
    }
    try store.close()
  }
}
