import BlogModel
import BlogTUI

/// How the program feels: from a key to what has to be drawn, and as a whole on a terminal.
struct TerminalBenchmarks {
  let place: Place

  /// All of them.
  var all: [Benchmark] {
    [keyToScreen, scrolling] + keyToPaint + scrollingTheDatabase + [firstPaint, firstPaintAlone]
      + ["xterm-256color", "tmux-256color"].flatMap { [oneRow($0), ownStar($0), selection($0)] }
      + [idle] + memory
  }

  /// From a key to the changed cells, on a list of 10,000 posts in memory.
  private var keyToScreen: Benchmark {
    Benchmark(
      "terminal/key-to-screen/10k",
      aims: [.p99(.milliseconds(1))],
      prepare: { Self.keys(onListOf: 10_000) }
    )
  }

  /// The same keys on a list of 100,000 posts, beside one of 100.
  private var scrolling: Benchmark {
    Benchmark(
      "terminal/key-to-screen/100k",
      against: Yardstick("a list of 100", prepare: { Self.keys(onListOf: 100) }),
      aims: [.ratio(0.9), .p99(.milliseconds(1))],
      prepare: { Self.keys(onListOf: 100_000) }
    )
  }

  private static func keys(onListOf count: Int) -> Benchmark.Pass {
    var model = Model(
      me: Author(uid: "me", name: "me"),
      databaseName: "benchmark",
      size: Size(width: 80, height: 24),
      now: 1_700_000_000_000
    )
    _ = update(&model, .started)
    _ = update(&model, .blog(.connection(.online)))
    _ = update(&model, .blog(.feed(.recent, posts: (0..<count).map(post))))
    var rows = DrawnRows()
    var shown = view(model, reusing: &rows)
    let keys: [KeyEvent] = [.down, .down, .pageDown, .up, .end, .home, .pageDown, .down]
    return {
      var samples: [UInt32] = []
      let start = ContinuousClock.now
      for number in 0..<2_000 {
        let began = ContinuousClock.now
        _ = update(&model, .key(keys[number % keys.count]))
        let next = view(model, reusing: &rows)
        _ = next.diff(from: shown)
        shown = next
        samples.append(UInt32(clamping: Int64((ContinuousClock.now - began).nanoseconds)))
      }
      return .rate(samples.count, in: ContinuousClock.now - start, samples: samples)
    }
  }

  private static func post(_ number: Int) -> Post {
    Post(
      id: "p\(number)",
      uid: "u\(number % 97)",
      author: "ada \(number % 97)",
      title: "Post number \(number) of many",
      body: "What the day was like, in a line or two.",
      starCount: number % 17,
      createdAt: 1_700_000_000_000 - Int64(number) * 60_000
    )
  }
}
