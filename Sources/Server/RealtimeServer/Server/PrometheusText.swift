internal import NIOCore
internal import RealtimeTransport

/// A page of metrics in the text format of Prometheus, version 0.0.4.
struct PrometheusText {
  enum Kind: String {
    case counter, gauge, summary
  }

  typealias Labels = KeyValuePairs<String, String>

  static let contentType = "text/plain; version=0.0.4; charset=utf-8"
  private(set) var text = ""

  /// Begins a family of metrics, whose samples follow; a name says its unit.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    let help = help.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    text += "# HELP hearth_\(name) \(help)\n# TYPE hearth_\(name) \(kind.rawValue)\n"
  }

  mutating func sample(_ name: String, _ labels: Labels = [:], _ value: Double) {
    let list = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",")
    // Whole numbers stay free of a fraction.
    let number = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    text += "hearth_\(name)\(list.isEmpty ? "" : "{\(list)}") \(number)\n"
  }

  /// Adds families with one sample each; those without a value are left out.
  mutating func add(_ kind: Kind, _ families: [(name: String, help: String, value: Double?)]) {
    for case (let name, let help, let value?) in families {
      family(name, kind, help)
      sample(name, [:], value)
    }
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

extension ServerCore {
  /// The metrics of the server since its start, as Prometheus reads them.
  var metricsText: String {
    var page = PrometheusText()
    page.family("build_info", .gauge, "Always 1; the label is the version of the program.")
    page.sample("build_info", ["version": options.version], 1)
    let uptime = Double((NIODeadline.now() - context.start).nanoseconds) / 1_000_000_000
    let memory = Double(ResidentMemory.mebibytes()) * 1_048_576
    let output = Double(context.memory.outputBytes)
    page.add(
      .gauge,
      [
        ("uptime_seconds", "The time since the server was started.", uptime),
        ("resident_memory_bytes", "The memory of the process.", memory),
        ("connections", "Open connections to the server.", Double(context.connectionCount)),
        ("waiting_output_bytes", "Output that clients have not read yet.", output),
      ]
    )
    addDatabases(to: &page)
    if let leaders { add(leaders.metrics, storageTime: leaders.storageTime, to: &page) }
    return page.text
  }

  private func addDatabases(to page: inout PrometheusText) {
    func add(
      _ name: String,
      _ kind: PrometheusText.Kind,
      _ help: String,
      _ value: (DatabaseCore) -> Int
    ) {
      page.family("database_\(name)", kind, help)
      for database in served {
        page.sample("database_\(name)", ["database": database.name], Double(value(database)))
      }
    }
    add("connections", .gauge, "Open connections to the database.") {
      $0.sessions.count + $0.peers.inside.count
    }
    add("listens", .gauge, "Open listens.") { $0.hub.listenCount }
    add("revision", .gauge, "The number of the last stored commit.") { Int($0.hub.revision) }
    add("store_failed", .gauge, "Whether the last attempt to store a batch failed.") {
      $0.batcher.progress.failure == nil ? 0 : 1
    }
    add("commits_total", .counter, "Commits that were stored.") { $0.metrics.commits }
    add("failed_batches_total", .counter, "Batches of commits that could not be stored.") {
      $0.metrics.failedBatches
    }
    add("undecodable_messages_total", .counter, "Messages that could not be decoded.") {
      $0.metrics.undecodable
    }
    add("sent_messages_total", .counter, "Messages that were sent.") { $0.metrics.sent }
    add("sent_bytes_total", .counter, "The bytes of messages over WebSockets.") {
      $0.metrics.sentBytes
    }
    add("dropped_connections_total", .counter, "Connections that the server closed over a limit.") {
      $0.metrics.dropped
    }
    page.family("database_requests_total", .counter, "Requests of clients, by kind.")
    for database in served {
      for (kind, count) in database.metrics.requests.counted {
        page.sample(
          "database_requests_total",
          ["database": database.name, "kind": kind],
          Double(count)
        )
      }
    }
    addTimes("commit_seconds", "How long the store took for a batch.", \.commitTime, to: &page)
    addTimes(
      "acknowledge_seconds",
      "The time from the arrival of a write to its acknowledgement.",
      \.acknowledgeTime,
      to: &page
    )
  }

  private func addTimes(
    _ name: String,
    _ help: String,
    _ times: KeyPath<DatabaseMetrics, Histogram>,
    to page: inout PrometheusText
  ) {
    page.family("database_\(name)", .summary, help)
    for database in served {
      let histogram = database.metrics[keyPath: times]
      for share in [0.5, 0.9, 0.99] where histogram.count > 0 {
        page.sample(
          "database_\(name)",
          ["database": database.name, "quantile": "\(share)"],
          Double(histogram.quantile(share)) / 1_000_000
        )
      }
      let labels: PrometheusText.Labels = ["database": database.name]
      page.sample("database_\(name)_sum", labels, Double(histogram.sum) / 1_000_000)
      page.sample("database_\(name)_count", labels, Double(histogram.count))
    }
  }

  private func add(
    _ cluster: ClusterMetrics,
    storageTime: Int64?,
    to page: inout PrometheusText
  ) {
    let offset = storageTime.map { Double(context.clock() - $0) / 1_000 }
    page.add(
      .gauge,
      [
        ("cluster_servers", "Live servers.", Double(cluster.servers.count)),
        (
          "cluster_cut_off", "Whether the last attempt to reach PostgreSQL failed.",
          cluster.isCutOff ? 1 : 0
        ),
        (
          "cluster_awaiting_standby",
          "Whether PostgreSQL finishes nothing because a synchronous standby is missing.",
          cluster.activity.isAwaitingStandby ? 1 : 0
        ),
        (
          "cluster_lag_seconds", "The age of PostgreSQL's last answer.",
          cluster.lag.map { Double($0) / 1_000 }
        ),
        ("cluster_timeline", "PostgreSQL's timeline.", cluster.timeline.map { Double($0) }),
        (
          "cluster_clock_offset_seconds", "This server's clock minus that of PostgreSQL.", offset
        ),
      ]
    )
    page.family("cluster_lease_seconds", .gauge, "The rest of the lease of a database led here.")
    for database in databases.open {
      guard let term = database.term else { continue }
      page.sample(
        "cluster_lease_seconds",
        ["database": database.name],
        max(0, term.remaining / .seconds(1))
      )
    }
    let leaderless = Double(cluster.leaderless.count)
    page.add(.gauge, [("cluster_leaderless", "Databases without a leader.", leaderless)])
    let counts: [(name: String, help: String, count: Int64)] = [
      ("leases_gained", "How often this server began to lead a database.", cluster.counts.gained),
      ("leases_lost", "Leases that ended before they were handed over.", cluster.counts.lost),
      (
        "renewals_failed", "Announcements that PostgreSQL did not answer.",
        cluster.counts.failedRenewals
      ),
      (
        "losses", "How often PostgreSQL was found to lack what it had before.",
        cluster.counts.losses
      ),
      (
        "reconnects", "Connections to PostgreSQL that were lost and made again.",
        cluster.activity.reconnections
      ),
    ]
    page.add(.counter, counts.map { ("cluster_\($0.name)_total", $0.help, Double($0.count)) })
    page.family(
      "cluster_unfolded_batches",
      .gauge,
      "Batches in the log since this server leads the database that are not in the nodes yet."
    )
    for (database, count) in cluster.activity.unfolded.sorted(by: { $0.key < $1.key }) {
      page.sample("cluster_unfolded_batches", ["database": database], Double(count))
    }
  }
}
