import ArgumentParser
import Foundation
import RealtimeCore
import RealtimeServer

struct Cluster: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cluster",
    abstract: "Show the servers that share a PostgreSQL, and which databases they lead.",
    discussion: """
      A line for each server with its host and version, then the databases that it leads: the epoch, \
      which is a new one for each leader, how long ago the lease was renewed, by PostgreSQL's clock, \
      and how many commits are still to be folded. Then servers that have fallen silent, the \
      databases without a leader, PostgreSQL's timeline, its standbys with how far they are behind, \
      and what servers have seen in PostgreSQL and no longer found there.
      """
  )

  @OptionGroup var storage: StoreChoice

  @OptionGroup var options: CommonOptions

  func run() throws {
    let store = try storage.cluster(options)
    let (view, details, losses) = (try store.view(), try store.details(), try store.losses())
    guard !options.json else { return Output.line(Self.json(of: view, details, losses)) }
    let lines = Self.lines(of: view, details) + details.standbys.map(Self.line)
    for line in lines + losses.map(Self.line) { Output.line(untrusted: line) }
  }

  private static func lines(of view: ClusterView, _ details: ClusterDetails) -> [String] {
    var lines = view.servers.isEmpty ? ["no server runs"] : []
    for server in view.servers {
      let led = view.leases.filter { $0.holder == server.id }
      let version = details.versions[server.id].map { "  version \($0)" } ?? ""
      lines.append(server.host + version + (led.isEmpty ? "  leads nothing" : ""))
      lines += led.map { lease in
        let unfolded = details.unfolded[lease.database] ?? 0
        let rest = unfolded > 0 ? ", \(unfolded) commits not folded" : ""
        return "  \(lease.database)  \(facts(of: lease))\(rest)"
      }
    }
    let hosts = Set(view.servers.map(\.host))
    lines += view.silent.filter { !hosts.contains($0.server.host) }.map {
      "\($0.server.host)  cut off from PostgreSQL, or dead: silent for \(seconds($0.age)) s"
    }
    let known = Set(view.servers.map(\.id))
    // Their servers have died, or a tool holds the database temporarily.
    lines += view.leases.filter { !known.contains($0.holder) }.map {
      "\($0.database)  led by \($0.holder), which is not a running server; \(facts(of: $0))"
    }
    let led = Set(view.leases.map(\.database))
    lines += view.positions.keys.sorted().filter { !led.contains($0) }.map {
      "\($0)  no server leads it; the first request opens it"
    }
    let timeline = view.history.timeline
    lines.append(
      timeline == 0 ? "this PostgreSQL is a standby" : "PostgreSQL is on timeline \(timeline)"
    )
    if details.isAwaitingStandby {
      lines.append("PostgreSQL finishes nothing: it WAITS for a synchronous standby")
    }
    return lines
  }

  private static func line(of standby: ClusterDetails.Standby) -> String {
    let kind = standby.isSynchronous ? "synchronous standby" : "standby"
    let lag = standby.lag.map { "\($0) bytes behind" } ?? "its state may be seen with pg_monitor"
    return "\(kind) \(standby.name)  \(lag)"
  }

  private static func seconds(_ age: Duration) -> Double { (age / .seconds(1) * 10).rounded() / 10 }

  private static func facts(of lease: Lease) -> String {
    "epoch \(lease.epoch), renewed \(seconds(lease.age)) s ago"
  }

  private static func line(of loss: StorageLoss) -> String {
    "\(loss.database)  LOST \(loss.batches) or more batches with \(loss.commits) commits, up to batch"
      + " \(loss.seen.batch) (timeline \(loss.oldTimeline), then \(loss.newTimeline))"
  }

  private static func json(
    of view: ClusterView,
    _ details: ClusterDetails,
    _ losses: [StorageLoss]
  ) -> JSONValue {
    let servers = view.servers.map { server in
      JSONValue.object(
        ("id", .string(server.id.description)),
        ("host", .string(server.host)),
        ("version", details.versions[server.id].map { .string($0) } ?? .null)
      )
    }
    let silent = view.silent.map {
      JSONValue.object(
        ("id", .string($0.server.id.description)),
        ("host", .string($0.server.host)),
        ("silentMilliseconds", .integer($0.age.milliseconds))
      )
    }
    let leases = view.leases.map { lease in
      let host = view.servers.first { $0.id == lease.holder }?.host
      return JSONValue.object(
        ("database", .string(lease.database)),
        ("epoch", .integer(lease.epoch)),
        ("leader", .string(lease.holder.description)),
        ("host", host.map { .string($0) } ?? .null),
        ("renewedMilliseconds", .integer(lease.age.milliseconds)),
        ("unfoldedCommits", .integer(details.unfolded[lease.database] ?? 0))
      )
    }
    let standbys = details.standbys.map { standby in
      JSONValue.object(
        ("name", .string(standby.name)),
        ("synchronous", .bool(standby.isSynchronous)),
        ("bytesBehind", standby.lag.map { .integer($0) } ?? .null)
      )
    }
    let losses = losses.map { loss in
      JSONValue.object(
        ("database", .string(loss.database)),
        ("batches", .integer(loss.batches)),
        ("commits", .integer(loss.commits)),
        ("batch", .integer(loss.seen.batch)),
        ("timelineBefore", .integer(loss.oldTimeline)),
        ("timeline", .integer(loss.newTimeline))
      )
    }
    return .object(
      ("servers", .array(servers)),
      ("silent", .array(silent)),
      ("leases", .array(leases)),
      ("timeline", .integer(view.history.timeline)),
      ("awaitingStandby", .bool(details.isAwaitingStandby)),
      ("standbys", .array(standbys)),
      ("databases", .array(view.positions.keys.sorted().map { .string($0) })),
      ("losses", .array(losses))
    )
  }
}

extension StoreChoice {
  /// The storage that the servers share.
  ///
  /// - Throws: ``CommandFailure`` when no storage is named.
  func cluster(_ options: CommonOptions) throws(CommandFailure) -> any ClusterStore {
    try requireAlone(with: options)
    guard let store else {
      throw CommandFailure(.usage, "name the PostgreSQL database with --store postgres://…")
    }
    return Storage.shared(at: store, changesSchema: false)
  }
}
