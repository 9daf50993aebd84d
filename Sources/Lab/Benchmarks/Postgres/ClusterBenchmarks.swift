import NIOCore
import RealtimeCore

/// The costs and benefits of several servers sharing a PostgreSQL.
struct ClusterBenchmarks {
  private static let duration = Duration.seconds(1)
  private static let databases = 10
  /// The number of connections that write to each database.
  private static let connections = 10

  let environment: BenchmarkEnvironment

  var all: [Benchmark] {
    [true, false].flatMap {
      [
        elsewhere("put", redirects: $0, puts(to:of:)),
        elsewhere("first-value", redirects: $0, firstValues(from:of:)),
      ]
    } + [spread]
      + [2, 3].flatMap { servers in
        [true, false].flatMap { follows in
          LeaderFigure.allCases.map { fanOut(over: servers, follows: follows, $0) }
        }
      }
  }

  // MARK: Listeners of several servers

  /// What is measured of writes that many listeners hear of.
  private enum LeaderFigure: String, CaseIterable {
    /// What all of them are told in a second, and how long after the write was sent.
    case rate = "listeners"
    /// The processor time of the leader for each message that a listener receives.
    case leader = "listeners-leader"
  }

  private static let listeners = 240

  /// One write after the other at the leader, to listeners of all servers.
  ///
  /// - Returns: The benchmark, beside one server that all listeners have reached.
  private func fanOut(over servers: Int, follows: Bool, _ figure: LeaderFigure) -> Benchmark {
    let postgres = SharedPostgres(in: environment)
    return Benchmark(
      "postgres/\(figure.rawValue)/\(follows ? "followed" : "forwarded")/\(servers)",
      against: Yardstick(
        "one server",
        prepare: { try fanOut(over: 1, follows: false, figure, at: postgres) }
      ),
      prepare: { try fanOut(over: servers, follows: follows, figure, at: postgres) }
    )
  }

  private func fanOut(
    over servers: Int,
    follows: Bool,
    _ figure: LeaderFigure,
    at postgres: SharedPostgres
  ) throws -> Benchmark.Pass {
    let cluster = try BenchmarkCluster(
      servers,
      leading: ["hearth"],
      followClients: follows ? 1 : 0,
      at: postgres,
      in: environment
    )
    let leader = cluster.servers[0]
    _ = try writePost(isStarred: false, port: leader.port)
    let opening = [Exchange(BlogWire.upgrade(to: "hearth"))]
    let author = try leader.target().connect([opening])
    let publisher = RequestLanes(author, sending: [try BlogWire.starring()])
    let all = try cluster.servers.flatMap { server in
      let one = opening + [Exchange(BlogWire.listen(to: 0), answers: 2)]
      let count = Self.listeners / servers
      let connections = try server.target().connect([[Exchange]](repeating: one, count: count))
      if follows, server.port != leader.port { try server.waitForCopy(listenedToBy: count) }
      return connections
    }
    return {
      let before = leader.processorTime
      let told = try FanOut(from: publisher, to: all, depth: 1).run(for: .seconds(2))
      defer { withExtendedLifetime(cluster) {} }
      guard figure == .leader else { return told }
      // With what is told before the figure is counted.
      return .time(leader.processorTime - before, operations: Int(told.value * 2.2))
    }
  }

  // MARK: Clients of another server

  /// What a client asks of a server that redirects it to another one, or forwards what it asks.
  ///
  /// - Returns: The benchmark, beside asking the leader.
  private func elsewhere(
    _ name: String,
    redirects: Bool,
    _ prepare: @escaping (Int, BenchmarkCluster) throws -> Benchmark.Pass
  ) -> Benchmark {
    let postgres = SharedPostgres(in: environment)
    /// Asks one of two servers, of which the first leads the default database.
    func asking(_ server: Int) throws -> Benchmark.Pass {
      let cluster = try BenchmarkCluster(
        2,
        leading: ["hearth"],
        redirects: redirects,
        at: postgres,
        in: environment
      )
      return try prepare(server, cluster)
    }
    return Benchmark(
      "postgres/\(redirects ? "redirected" : "forwarded")-\(name)",
      against: Yardstick("at the leader", prepare: { try asking(0) }),
      prepare: { try asking(1) }
    )
  }

  /// REST writes.
  private func puts(to server: Int, of cluster: BenchmarkCluster) throws -> Benchmark.Pass {
    let bodies = try [true, false].map { try Self.post(isStarred: $0).json }
    var count = 0
    return {
      // Servers close connections that are idle for long, as they are while others are measured.
      let connection = try WaitingConnection(port: cluster.servers[server].port)
      let leader = try WaitingConnection(port: cluster.servers[0].port)
      return try .rate(for: Self.duration) {
        count += 1
        let body = bodies[count % 2]
        var response = try connection.request("PUT", at: "/post.json?ns=hearth", body: body)
        if response.status == 307, let target = Self.target(of: response) {
          response = try leader.request("PUT", at: target, body: body)
        }
        guard response.status == 200 else {
          throw LoadError("a put was answered with status \(response.status)")
        }
      }
    }
  }

  /// The path and the parameters of the address that a request is redirected to.
  private static func target(of response: WaitingConnection.Response) -> String? {
    guard let location = response.location, let scheme = location.firstRange(of: "://"),
      let slash = location[scheme.upperBound...].firstIndex(of: "/")
    else { return nil }
    return String(location[slash...])
  }

  /// Connecting, up to the first value.
  private func firstValues(
    from server: Int,
    of cluster: BenchmarkCluster
  ) throws -> Benchmark.Pass {
    let post = try writePost(isStarred: true, port: cluster.servers[0].port)
    return {
      try .rate(for: Self.duration) {
        var port = cluster.servers[server].port
        while true {
          let connection = try WaitingConnection(port: port)
          try connection.send(BlogWire.upgrade(to: "hearth"))
          _ = try connection.upgraded()
          if case .reset(let host) = try connection.message() {
            guard let next = host.split(separator: ":").last.flatMap({ Int($0) }) else {
              throw LoadError("a redirect to \(host)")
            }
            port = next
            continue
          }
          try connection.send(BlogWire.listen(to: 0))
          guard case .push(.data(_, let node, _)) = try connection.message(), node == post else {
            throw LoadError("the first message is not the value")
          }
          return
        }
      }
    }
  }

  /// Writes the post that clients listen to, and returns it.
  private func writePost(isStarred: Bool, port: Int) throws -> Node {
    let post = try Self.post(isStarred: isStarred)
    let answer = try WaitingConnection(port: port)
      .request("PUT", at: "/posts/\(SamplePosts.key(0).text).json?ns=hearth", body: post.json)
    guard answer.status == 200 else { throw LoadError("the post could not be written") }
    return post.node
  }

  private static func post(isStarred: Bool) throws -> (node: Node, json: String) {
    let node = try BlogWire.post(0, by: HearthServer.name(0), isStarred: isStarred)
    var writer = JSONWriter()
    node.write(to: &writer)
    return (node, writer.text)
  }

  // MARK: Several databases

  /// Writes to ten databases that three servers lead, compared with one server that leads all.
  private var spread: Benchmark {
    let postgres = SharedPostgres(in: environment)
    return Benchmark(
      "postgres/ten-databases",
      against: Yardstick("one server", prepare: { try spread(over: 1, at: postgres) }),
      prepare: { try spread(over: 3, at: postgres) }
    )
  }

  private func spread(over servers: Int, at postgres: SharedPostgres) throws -> Benchmark.Pass {
    let names = (0..<Self.databases).map { "base-\($0)" }
    let cluster = try BenchmarkCluster(servers, leading: names, at: postgres, in: environment)
    let users = 0..<Self.connections
    let connections = try names.enumerated().flatMap { number, name in
      try cluster.servers[number % servers].target()
        .connect(users.map { _ in [Exchange(BlogWire.upgrade(to: name))] })
    }
    let puts = try names.flatMap { _ in try users.map(PutBenchmarks.puts(of:)) }
    let lanes = RequestLanes(connections, sending: puts)
    return lanes.closedLoop(keeping: [cluster])
  }
}
