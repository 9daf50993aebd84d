import RealtimeCore
import RealtimeSync

/// What the client engine costs.
enum ClientBenchmarks {
  private static let posts = Path(["posts"])

  static var all: [Benchmark] {
    var all: [Benchmark] = []
    for (label, count) in [("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000)] {
      all.append(updates(label, count))
    }
    for (label, count) in [("1k", 1_000), ("10k", 10_000), ("100k", 100_000), ("1M", 1_000_000)] {
      all.append(localSet(label, count))
    }
    return all + [multiPathUpdate, decoding, memory, fill]
  }

  /// Server updates of an indexed child, seen by a window of the last hundred.
  private static func updates(_ label: String, _ count: Int) -> Benchmark {
    Benchmark(
      "client/server-update/\(label)",
      against: .dictionary,
      prepare: {
        var client = try windowed(count)
        let updates = 10_000
        let stars = ChildKey("starCount")
        var round = 0
        return {
          round += 1
          let changes = (0..<updates).map { number in
            let place = posts.appending(SamplePosts.key(number * 7_919 % count)).appending(stars)
            return (place, Node.integer(Int64((number + round) * 31 % 20_011)))
          }
          let time = ContinuousClock().measure {
            for (place, node) in changes { client.push(place, node) }
          }
          keep(client.events)
          return .time(time, operations: updates)
        }
      }
    )
  }

  /// A client that holds all posts and watches the hundred with the most stars.
  private static func windowed(_ count: Int) throws -> BenchmarkClient {
    var client = BenchmarkClient()
    client.observe(posts, .all, [.value])
    client.push(posts, try SamplePosts.tree(count))
    var query = Query(index: .child(Path(["starCount"])))
    query.limit = Query.Limit(100, .last)
    client.observe(posts, query, [.childAdded, .childChanged, .childMoved, .childRemoved])
    return client
  }

  /// A write of the client itself, up to the event of its own listener.
  private static func localSet(_ label: String, _ count: Int) -> Benchmark {
    Benchmark(
      "client/local-set/\(label)",
      against: .dictionary,
      prepare: {
        var client = BenchmarkClient()
        client.observe(posts, .all, [.value])
        client.push(posts, try SamplePosts.tree(count))
        return { [client] in
          var copy = client
          let sets = 200
          let before = copy.events
          let time = ContinuousClock().measure {
            for number in 0..<sets {
              let place = posts.appending(SamplePosts.key(number * 7_919 % count))
              copy.write(place.appending(ChildKey("starCount")), .set(.integer(Int64(number))))
            }
          }
          keep(copy.events - before)
          return .time(time, operations: sets)
        }
      }
    )
  }

  /// One update of 500 locations, which a listener sees as one event.
  private static var multiPathUpdate: Benchmark {
    Benchmark(
      "client/update-of-500-paths",
      against: .dictionary,
      aims: [.atMost(.time(.milliseconds(5)))]
    ) {
      var client = BenchmarkClient()
      client.observe(posts, .all, [.value])
      client.push(posts, try SamplePosts.tree(10_000))
      let changes = (0..<500).map { number in
        Change(Path([SamplePosts.key(number * 17), "starCount"]), .integer(Int64(number)))
      }
      let time = ContinuousClock().measure { client.write(posts, .merge(changes)) }
      keep(client.events)
      return .time(time, operations: 1)
    }
  }

  /// The bytes of a message with the answer to a listen, up to the data as the engine takes them.
  private static var decoding: Benchmark {
    Benchmark(
      "client/decode-50-KB",
      against: .copy,
      aims: [.atLeast(.throughput(300_000_000, in: .seconds(1)))]
    ) {
      let message = ServerMessage.push(.data(path: posts, try SamplePosts.tree(175), tag: nil))
      let bytes = message.encoded()
      let rounds = 200
      let time = try ContinuousClock().measure {
        for _ in 0..<rounds {
          if case .push = try ServerMessage(decoding: bytes) { continue }
          keep(0)
        }
      }
      return .throughput(bytes.count * rounds, in: time)
    }
  }

  /// Has a client take in posts from the bytes of a message, of which only the client keeps anything.
  private static func takeIn(_ count: Int, client: inout BenchmarkClient) throws {
    let message = ServerMessage.push(.data(path: posts, try SamplePosts.tree(count), tag: nil))
    if case .push(.data(let path, let node, _)) = try ServerMessage(decoding: message.encoded()) {
      client.push(path, node)
    }
  }

  /// Memory of a post in a client's cache, with what the packed posts keep alive of the message.
  private static var memory: Benchmark {
    Benchmark("client/memory-per-post", against: .postJSON, aims: [.atMost(.memory(1_024))]) {
      let count = 100_000
      let before = ResidentMemory.bytes()
      var client = BenchmarkClient()
      client.observe(posts, .all, [.value])
      try takeIn(count, client: &client)
      let after = ResidentMemory.bytes()
      keep(client.events)
      return .memory(after - before, items: count)
    }
  }

  /// Taking in 100,000 posts at once, from bytes to the listener's event; the time of one post.
  private static var fill: Benchmark {
    Benchmark("client/take-in-100k-posts", against: .dictionary) {
      let count = 100_000
      let message = ServerMessage.push(.data(path: posts, try SamplePosts.tree(count), tag: nil))
      let bytes = message.encoded()
      var client = BenchmarkClient()
      client.observe(posts, .all, [.value])
      let time = try ContinuousClock().measure {
        if case .push(.data(let path, let node, _)) = try ServerMessage(decoding: bytes) {
          client.push(path, node)
        }
      }
      keep(client.events)
      return .time(time, operations: count)
    }
  }
}
