import BlogModel
import BlogTUI
import Foundation

/// How responsive the program is: from a key to what has to be drawn, and as a whole on a terminal.
struct TerminalBenchmarks {
  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    [keyToScreen, scrolling] + keyToPaint + scrollingTheDatabase + searching
      + [firstPaint, firstPaintAlone]
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

  /// The same keys on a list of 100,000 posts, compared with one of 100.
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
      RecordingStart(
        me: Author(uid: "me", name: "me"),
        databaseName: "benchmark",
        size: Size(width: 80, height: 24),
        now: 1_700_000_000_000
      )
    )
    _ = update(&model, with: .started)
    _ = update(&model, with: .blog(.connection(.online)))
    _ = update(&model, with: .blog(.feed(.recent, posts: (0..<count).map(post))))
    var rows = DrawnRows()
    var shown = view(model, reusing: &rows)
    let keys: [KeyEvent] = [.down, .down, .pageDown, .up, .end, .home, .pageDown, .down]
    return {
      let clock = ContinuousClock()
      let start = clock.now
      let times = (0..<2_000).map { number in
        clock.measure {
          _ = update(&model, with: .key(keys[number % keys.count]))
          let next = view(model, reusing: &rows)
          _ = next.diff(from: shown)
          shown = next
        }
      }
      return .rate(times, in: clock.now - start)
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

/// The whole program on a terminal whose other end the benchmark holds.
extension TerminalBenchmarks {
  /// From a typed key to the first byte that the program paints in response, with 10,000 posts; and
  /// to the last byte of everything that follows, including data from the database.
  ///
  /// The yardstick is a program that only echoes what is typed: the time that the machine itself
  /// takes to wake a program for a key, and then the process that waits for the output.
  var keyToPaint: [Benchmark] {
    let keys = ["j", "j", "k", "j"]
    return [
      Benchmark(
        "terminal/key-to-paint/10k",
        against: Yardstick("an echo") { try typing(keys, into: echo()) },
        aims: [.p99(.milliseconds(1))]
      ) {
        try typing(keys, into: reader(of: 10_000))
      },
      Benchmark("terminal/key-to-rest/10k") {
        try typing(keys, into: reader(of: 10_000), until: \.last)
      },
    ]
  }

  /// Paging through a blog of 100,000 posts, compared with one of 100, which never has to load more
  /// from its database: to the first byte of each page, and to the last of everything that follows.
  var scrollingTheDatabase: [Benchmark] {
    func pages(down: Int, up: Int) -> [String] {
      Array(repeating: " ", count: down) + Array(repeating: "b", count: up)
    }
    func scrolling(
      _ name: String,
      until moment: @escaping (TerminalProgram.Paint) -> Duration,
      aims: [Aim]
    ) -> Benchmark {
      Benchmark(
        name,
        against: Yardstick("a blog of 100") {
          try typing(pages(down: 4, up: 4), into: reader(of: 100), until: moment)
        },
        aims: aims
      ) {
        try typing(pages(down: 9, up: 3), into: reader(of: 100_000), until: moment)
      }
    }
    return [
      scrolling("terminal/scroll/100k", until: \.first, aims: [.ratio(0.9)]),
      scrolling("terminal/scroll-to-rest/100k", until: \.last, aims: []),
    ]
  }

  /// How long a search through 100,000 posts takes, and how long keys take during the search.
  ///
  /// A search also paints its progress, so a key is timed from when it is typed to when its letter
  /// is written. The yardstick is the same letters without a search.
  var searching: [Benchmark] {
    /// Text that eleven posts contain, none of them loaded.
    let query = "telling: 4242"
    func letters(_ query: String?) throws -> Benchmark.Pass {
      let program = try reader(of: 100_000)
      return {
        var times: [Duration] = []
        for _ in 0..<20 {
          if let query {
            program.forget()
            program.type("/" + query + "\r")
            try program.wait(for: "searched")
          }
          program.type(":")
          for _ in 0..<20 {
            // This letter occurs nowhere else on the screen.
            times.append(try program.echo(of: "z"))
            program.rest(for: .milliseconds(2))
          }
          program.forget()
          program.type("\u{1B}")
          // After the end of a search, Esc does something else.
          if query != nil { try program.wait(for: "stops") }
          for _ in 0..<2 {
            program.type("\u{1B}")
            program.settle()
          }
        }
        return .rate(times)
      }
    }
    return [
      Benchmark("terminal/search/100k", aims: [.atMost(.time(.seconds(5)))]) {
        let program = try reader(of: 100_000)
        return {
          program.forget()
          let start = ContinuousClock.now
          program.type("/" + query + "\r")
          try program.wait(for: "shows all")
          let time = ContinuousClock.now - start
          program.type("\u{1B}")
          program.settle()
          return .time(time)
        }
      },
      Benchmark(
        "terminal/key-during-search/100k",
        against: Yardstick("without a search") { try letters(nil) },
        aims: [.p99(.milliseconds(16))]
      ) { try letters(query) },
    ]
  }

  /// A program that shows the newest of this many posts.
  private func reader(
    of count: Int,
    on kind: String = "xterm-256color"
  ) throws -> TerminalProgram {
    let home = try TerminalHome(environment, terminal: kind)
    try home.write(count)
    let program = try home.start()
    try program.wait(for: SampleBlog.title(count - 1))
    program.settle()
    return program
  }

  private func echo() throws -> TerminalProgram {
    let command = "stty raw -echo && echo ready && exec cat"
    let program = try TerminalProgram("/bin/sh", arguments: ["-c", command], environment: [:])
    try program.wait(for: "ready")
    return program
  }

  /// Types keys one after the other, each once everything that the previous key changed is painted.
  private func typing(
    _ keys: [String],
    into program: TerminalProgram,
    until moment: @escaping (TerminalProgram.Paint) -> Duration = \.first
  ) -> Benchmark.Pass {
    program.settle()
    return {
      .rate(
        try (0..<480).map { number in moment(try program.paint(after: keys[number % keys.count])) }
      )
    }
  }

  /// From the start to the first screen while the server is running.
  var firstPaint: Benchmark {
    Benchmark("terminal/first-paint", aims: [.atMost(.time(.milliseconds(60)))]) {
      let home = try TerminalHome(environment)
      try home.write(1_000)
      let server = try home.start(user: "first")
      try server.wait(for: "online")
      return {
        let start = ContinuousClock.now
        let program = try home.start()
        try program.wait(for: "hearth")
        withExtendedLifetime(server) {}
        return .time(ContinuousClock.now - start)
      }
    }
  }

  /// From the start to the first screen when the server has to be started as well.
  var firstPaintAlone: Benchmark {
    Benchmark("terminal/first-paint-alone", aims: [.atMost(.time(.milliseconds(300)))]) {
      {
        let home = try TerminalHome(environment)
        try home.write(1_000)
        let start = ContinuousClock.now
        let program = try home.start()
        try program.wait(for: "hearth")
        return .time(ContinuousClock.now - start)
      }
    }
  }

  /// What another user's star writes to the terminal.
  func oneRow(_ kind: String) -> Benchmark {
    bytes("terminal/one-row/\(kind)", on: kind, atMost: 300) { program, round in
      let command = round.isMultiple(of: 2) ? "star" : "unstar"
      try program.home?.run(command, SampleBlog.key(95), "--user", "other")
    }
  }

  /// What the user's own star writes, from the key to the sign that it is stored.
  func ownStar(_ kind: String) -> Benchmark {
    bytes("terminal/own-star/\(kind)", on: kind, atMost: 300) { program, _ in program.type("s") }
  }

  /// What moving the selection writes: two rows, one of them highlighted.
  func selection(_ kind: String) -> Benchmark {
    bytes("terminal/selection/\(kind)", on: kind, atMost: 600) { program, round in
      program.type(round.isMultiple(of: 2) ? "j" : "k")
    }
  }

  /// The number of bytes that an action makes the program write.
  private func bytes(
    _ name: String,
    on kind: String,
    atMost most: Int,
    _ change: @escaping (TerminalProgram, _ round: Int) throws -> Void
  ) -> Benchmark {
    Benchmark(name, aims: [.atMost(.memory(most))]) {
      let program = try reader(of: 100, on: kind)
      var round = 0
      return {
        program.forget()
        try change(program, round)
        round += 1
        program.settle()
        return .memory(program.output.count)
      }
    }
  }

  /// The processor time of twenty idle seconds, measured as a whole: at most one system tick.
  ///
  /// Every thirty seconds the program measures the server's response time; nothing else happens.
  var idle: Benchmark {
    Benchmark("terminal/idle", aims: [.atMost(.time(.milliseconds(10)))]) {
      let program = try reader(of: 100)
      let before = program.ticks
      program.rest(for: .seconds(20))
      let time = ProcessorTime.duration(ofTicks: program.ticks - before)
      return { .time(time) }
    }
  }

  /// The memory of a terminal that has read 1,000 posts: the total, and the part that is not from
  /// files.
  ///
  /// It is measured after the program has returned what only its start needed. Most of the rest is
  /// library code, which all the terminals of a machine share.
  var memory: [Benchmark] {
    [
      ("resident", 40 << 20, { ResidentMemory.bytes(of: $0.id) }),
      ("anonymous", 16 << 20, { ResidentMemory.anonymousBytes(of: $0.id) }),
    ].map { (name: String, most: Int, count: @escaping (TerminalProgram) -> Int) in
      Benchmark("terminal/memory/\(name)", aims: [.atMost(.memory(most))]) {
        let program = try reader(of: 1_000)
        for _ in 0..<60 {
          program.type(" ")
          program.read(for: .milliseconds(30))
        }
        program.rest(for: .seconds(5))
        program.type("g")
        program.settle()
        return { .memory(count(program)) }
      }
    }
  }
}
