/// Work that anyone can judge, which a benchmark is held against in the same minutes.
struct Yardstick {
  let name: String
  /// Makes ready what the passes share, which is given up after the last one.
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

  /// Filling a `Dictionary` with a million text keys, all in all.
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

  /// The bytes of the post's own JSON.
  static var postJSON: Yardstick {
    Yardstick("its JSON") { .memory(SamplePosts.json(0).utf8.count) }
  }
}

/// Takes a result so that the work for it cannot be left out.
@inline(never)
func keep(_ value: Int) {
  withExtendedLifetime(value) {}
}
