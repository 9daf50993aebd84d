import BlogModel
import BlogTUI
import Foundation
import TerminalUI

/// How the program feels: from a key to what has to be drawn, and as a whole on a terminal.
struct TerminalBenchmarks {
  let place: Place

  /// All of them.
  var all: [Benchmark] {
    [10_000, 100_000].map(keyToScreen) + [firstPaint, firstPaintAlone, oneRow, idle, memory]
  }

  /// From a key to the changed cells, on a list of that many posts.
  private func keyToScreen(_ count: Int) -> Benchmark {
    Benchmark(
      "terminal/key-to-screen/\(count / 1_000)k",
      aims: [.p99(.milliseconds(1))],
      prepare: {
        var model = Model(
          me: Author(uid: "me", name: "me"),
          databaseName: "benchmark",
          size: Size(width: 80, height: 24),
          now: 1_700_000_000_000
        )
        _ = update(&model, .started)
        _ = update(&model, .blog(.connection(.online)))
        _ = update(&model, .blog(.feed(.recent, posts: (0..<count).map(Self.post))))
        var shown = view(model)
        let keys: [KeyEvent] = [.down, .down, .pageDown, .up, .end, .home, .pageDown, .down]
        return {
          var samples: [UInt32] = []
          let start = ContinuousClock.now
          for number in 0..<2_000 {
            let began = ContinuousClock.now
            _ = update(&model, .key(keys[number % keys.count]))
            let next = view(model)
            _ = next.diff(from: shown)
            shown = next
            samples.append(UInt32(clamping: Int64((ContinuousClock.now - began).nanoseconds)))
          }
          return .rate(samples.count, in: ContinuousClock.now - start, samples: samples)
        }
      }
    )
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

  /// From the start to the first screen while the server runs.
  private var firstPaint: Benchmark {
    Benchmark("terminal/first-paint", aims: [.atMost(.time(.milliseconds(60)))]) {
      let home = try TerminalHome(place)
      let server = try home.program("--user", "first")
      try server.wait(for: "online")
      return {
        let start = ContinuousClock.now
        let program = try home.program()
        try program.wait(for: "hearth")
        withExtendedLifetime(server) {}
        return .time(ContinuousClock.now - start)
      }
    }
  }

  /// From the start to the first screen when the server has to be started too.
  private var firstPaintAlone: Benchmark {
    Benchmark("terminal/first-paint-alone", aims: [.atMost(.time(.milliseconds(300)))]) {
      {
        let home = try TerminalHome(place)
        let start = ContinuousClock.now
        let program = try home.program()
        try program.wait(for: "hearth")
        return .time(ContinuousClock.now - start)
      }
    }
  }

  /// What a change of one row writes to the terminal.
  private var oneRow: Benchmark {
    Benchmark("terminal/one-row", aims: [.atMost(.memory(300))]) {
      let home = try TerminalHome(place)
      let program = try home.program()
      try program.wait(for: "online")
      try home.run("post", "--title", "A post", "--body", "x", "--user", "other")
      try program.wait(for: "A post")
      program.settle()
      return {
        program.forget()
        program.type("s")
        program.settle()
        return .memory(program.output.count)
      }
    }
  }

  /// The processor time of ten idle seconds, as a share of them.
  private var idle: Benchmark {
    Benchmark("terminal/idle", aims: [.atMost(.time(.milliseconds(10)))]) {
      let home = try TerminalHome(place)
      let program = try home.program()
      try program.wait(for: "online")
      program.settle()
      return {
        let before = program.ticks
        usleep(10_000_000)
        let ticks = program.ticks - before
        return .time(.milliseconds(ticks * 1_000 / Int(sysconf(Int32(_SC_CLK_TCK)))))
      }
    }
  }

  /// The memory of a terminal.
  private var memory: Benchmark {
    Benchmark("terminal/memory", aims: [.atMost(.memory(40_000_000))]) {
      let home = try TerminalHome(place)
      let program = try home.program()
      try program.wait(for: "online")
      program.settle()
      return { .memory(ResidentMemory.bytes(of: String(program.id))) }
    }
  }
}
