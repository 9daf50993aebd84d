import Glibc

struct Benchmark {
  /// Runs once and returns the figure; the preparation does not count.
  typealias Pass = () throws -> Figure

  /// Area and subject, as in `client/update/10k`.
  let name: String
  /// The yardsticks, measured in turn with the benchmark; ratios refer to the first.
  let yardsticks: [Yardstick]
  /// The aims; empty if only the trend matters.
  let aims: [Aim]
  /// Prepares what all passes share.
  let prepare: () throws -> Pass

  /// Creates a benchmark whose passes share their preparation.
  init(
    _ name: String,
    against yardsticks: [Yardstick],
    aims: [Aim] = [],
    prepare: @escaping () throws -> Pass
  ) {
    self.name = name
    self.yardsticks = yardsticks
    self.aims = aims
    self.prepare = prepare
  }

  /// Creates a benchmark whose passes share their preparation.
  init(
    _ name: String,
    against yardsticks: Yardstick...,
    aims: [Aim] = [],
    prepare: @escaping () throws -> Pass
  ) {
    self.init(name, against: yardsticks, aims: aims, prepare: prepare)
  }

  /// Creates a benchmark whose passes share nothing.
  init(
    _ name: String,
    against yardstick: Yardstick,
    aims: [Aim] = [],
    pass: @escaping Pass
  ) {
    self.init(name, against: yardstick, aims: aims, prepare: { pass })
  }
}

/// Well-known work with which a benchmark is compared within the same minutes.
struct Yardstick {
  let name: String
  let prepare: () throws -> Benchmark.Pass

  init(_ name: String, prepare: @escaping () throws -> Benchmark.Pass) {
    self.name = name
    self.prepare = prepare
  }

  init(_ name: String, pass: @escaping Benchmark.Pass) {
    self.init(name, prepare: { pass })
  }

  /// Inserting into a `Dictionary` of 10,000 text keys.
  static var dictionary: Yardstick {
    Yardstick("Dictionary insert", pass: { dictionary(of: 10_000) })
  }

  /// Filling a `Dictionary` with a million text keys, in total.
  static var millionKeys: Yardstick {
    Yardstick("Dictionary of a million") {
      let count = 1_000_000
      return Figure(value: dictionary(of: count).value * Double(count), unit: .time)
    }
  }

  private static func dictionary(of count: Int) -> Figure {
    let keys = (0..<count).map { "key\($0)" }
    var dictionary: [String: Int] = [:]
    let time = ContinuousClock().measure {
      for (position, key) in keys.enumerated() { dictionary[key] = position }
    }
    keep(dictionary.count)
    return .time(time, operations: keys.count)
  }

  /// Copying a megabyte.
  static var copy: Yardstick {
    Yardstick("memcpy") {
      let size = 1 << 20
      let source = [UInt8](repeating: 7, count: size)
      var target = [UInt8](repeating: 0, count: size)
      let rounds = 200
      let time = ContinuousClock().measure {
        for _ in 0..<rounds {
          source.withUnsafeBytes { from in
            target.withUnsafeMutableBytes { to in to.copyMemory(from: from) }
          }
        }
      }
      keep(Int(target[size / 2]))
      return .throughput(size * rounds, in: time)
    }
  }

  /// The size of the post's own JSON.
  static var postJSON: Yardstick {
    Yardstick("its JSON") { .memory(SamplePosts.json(0).utf8.count) }
  }
}

/// Uses a result, so that the compiler cannot optimize the work away.
@inline(never)
func keep(_ value: Int) {
  withExtendedLifetime(value) {}
}

extension Yardstick {
  /// Appending 300 bytes to a file and waiting for the disk, repeatedly.
  static func disk(in environment: BenchmarkEnvironment) -> Yardstick {
    Yardstick("append + fdatasync") {
      let folder = try TemporaryFolder(in: environment.folder)
      return {
        let file = open("\(folder.path)/log", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw LoadError("\(folder.path) cannot be written") }
        defer { close(file) }
        let record = [UInt8](repeating: 7, count: 300)
        return try .rate(for: .milliseconds(500)) {
          guard write(file, record, record.count) == record.count, fdatasync(file) == 0 else {
            throw LoadError("the disk cannot be written")
          }
        }
      }
    }
  }
}
