import ArgumentParser
import Foundation
import RealtimeCore
import RealtimeServer

/// Shows the servers that share a storage.
struct Cluster: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show the servers that share a PostgreSQL, and which databases they lead.",
    discussion: """
      A line for each server with its host, then the databases that it leads: the epoch, which is a \
      new one for each leader, and how long ago the lease was renewed, by PostgreSQL's clock. Then \
      servers that have fallen silent, the databases without a leader, PostgreSQL's timeline, and \
      what servers have seen in PostgreSQL and no longer found there.
      """
  )

  @OptionGroup var storage: StoreChoice

  @OptionGroup var options: CommonOptions

  func run() throws {
    let store = try storage.cluster(options)
    let (view, losses) = (try store.view(), try store.losses())
    guard !options.json else { return Output.line(Self.json(of: view, losses)) }
    for line in Self.lines(of: view) + losses.map(Self.line) { Output.line(untrusted: line) }
  }

  private static func lines(of view: ClusterView) -> [String] {
    var lines = view.servers.isEmpty ? ["no server runs"] : []
    for server in view.servers {
      let led = view.leases.filter { $0.holder == server.id }
      lines.append(server.host + (led.isEmpty ? "  leads nothing" : ""))
      lines += led.map { "  \($0.database)  \(facts(of: $0))" }
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
    return lines + ["PostgreSQL is on timeline \(view.history.timeline)"]
  }

  private static func seconds(_ age: Duration) -> Double { (age / .seconds(1) * 10).rounded() / 10 }

  private static func facts(of lease: Lease) -> String {
    "epoch \(lease.epoch), renewed \(seconds(lease.age)) s ago"
  }

  private static func line(of loss: StorageLoss) -> String {
    "\(loss.database)  LOST \(loss.batches) or more batches with \(loss.commits) commits, up to batch"
      + " \(loss.seen.batch) (timeline \(loss.oldTimeline), then \(loss.newTimeline))"
  }

  private static func json(of view: ClusterView, _ losses: [StorageLoss]) -> JSONValue {
    .object(
      (
        "servers",
        .array(
          view.servers.map {
            .object(("id", .string($0.id.description)), ("host", .string($0.host)))
          }
        )
      ),
      (
        "silent",
        .array(
          view.silent.map {
            .object(
              ("id", .string($0.server.id.description)),
              ("host", .string($0.server.host)),
              ("silentMilliseconds", .integer(Int64($0.age / .milliseconds(1))))
            )
          }
        )
      ),
      (
        "leases",
        .array(
          view.leases.map { lease in
            .object(
              ("database", .string(lease.database)),
              ("epoch", .integer(lease.epoch)),
              ("leader", .string(lease.holder.description)),
              (
                "host",
                view.servers.first { $0.id == lease.holder }.map { .string($0.host) } ?? .null
              ),
              ("renewedMilliseconds", .integer(Int64(lease.age / .milliseconds(1))))
            )
          }
        )
      ),
      ("timeline", .integer(view.history.timeline)),
      ("databases", .array(view.positions.keys.sorted().map { .string($0) })),
      (
        "losses",
        .array(
          losses.map { loss in
            .object(
              ("database", .string(loss.database)),
              ("batches", .integer(loss.batches)),
              ("commits", .integer(loss.commits)),
              ("batch", .integer(loss.seen.batch)),
              ("timelineBefore", .integer(loss.oldTimeline)),
              ("timeline", .integer(loss.newTimeline))
            )
          }
        )
      )
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
      throw CommandFailure(
        .usage,
        description: "name the PostgreSQL database with --store postgres://…"
      )
    }
    return Storage.shared(at: store, changesSchema: false)
  }
}
