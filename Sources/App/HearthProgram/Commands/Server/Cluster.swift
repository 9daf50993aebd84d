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
      new one for each leader, and how long the lease counts unless it is renewed.
      """
  )

  @OptionGroup var storage: StoreChoice

  @OptionGroup var options: CommonOptions

  func run() throws {
    let view = try storage.cluster().view()
    guard !options.json else { return Output.line(Self.json(of: view)) }
    for line in Self.lines(of: view) { Output.line(untrusted: line) }
  }

  private static func lines(of view: ClusterView) -> [String] {
    var lines: [String] = []
    for server in view.servers {
      let led = view.leases.filter { $0.holder == server.id }
      lines.append(server.host + (led.isEmpty ? "  leads nothing" : ""))
      lines += led.map { "  \($0.database)  \(facts(of: $0))" }
    }
    let known = Set(view.servers.map(\.id))
    // Their servers have died, or a tool holds the database temporarily.
    lines += view.leases.filter { !known.contains($0.holder) }.map {
      "\($0.database)  led by \($0.holder), which is not a running server; \(facts(of: $0))"
    }
    return lines
  }

  private static func facts(of lease: Lease) -> String {
    let seconds = Double(lease.remaining / .milliseconds(1)) / 1_000
    return "epoch \(lease.epoch), \((seconds * 10).rounded() / 10) s left"
  }

  private static func json(of view: ClusterView) -> JSONValue {
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
              ("milliseconds", .integer(Int64(lease.remaining / .milliseconds(1))))
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
  func cluster() throws(CommandFailure) -> any ClusterStore {
    guard let store else {
      throw CommandFailure(
        .usage,
        description: "name the PostgreSQL database with --store postgres://…"
      )
    }
    return Storage.shared(at: store)
  }
}
