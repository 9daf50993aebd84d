import Foundation
import RealtimeTransport
import TestSupport

@testable import RealtimeServer

/// The servers of a scene that has several: L leads at first, A and B do not, and N leads after L.
struct SceneCluster {
  private let cluster: TestCluster
  private var members: [String: TestCluster.Member] = [:]
  /// The server that connections and requests go to.
  private var current = "A"

  var port: Int? { members[current]?.server.port }

  /// Starts servers: their number, then `redirects`, `copies`, and the names of more databases.
  init(_ text: String) async throws {
    let words = text.components(separatedBy: " ")
    guard let count = Int(words[0]) else { throw SceneFailure("how many servers?") }
    cluster = try await TestCluster(
      count,
      databases: words.dropFirst().filter { !["redirects", "copies", "forwarding"].contains($0) },
      redirects: words.contains("redirects"),
      followClients: words.contains("copies") ? 1 : 0
    )
    if words.contains("copies") { try await cluster.followEverywhere() }
    let (leader, others) = try await cluster.leader()
    members["L"] = leader
    for (name, other) in zip(["A", "B"], others) { members[name] = other }
    if others.isEmpty { current = "L" }
  }

  /// The host of each server, by the name that stands for it.
  var hosts: [String: String] { members.mapValues(\.host) }

  /// Does what a line says about the servers; false if it says nothing about them.
  mutating func act(_ word: String, _ rest: String) async throws -> Bool {
    let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
    switch word {
    case "at":
      _ = try member(rest)
      current = rest
    case "lose":
      guard let loss = TestCluster.Loss(rawValue: rest) else { throw SceneFailure("no such loss") }
      members["N"] = try await cluster.lose(member("L"), by: loss, askedAt: member("A"))
    case "leads":
      let leader = try await cluster.leader().leader
      guard try leader.host == member(rest).host else { throw SceneFailure("another one leads") }
    case "moves":
      let view = cluster.storage.view()
      let next = try member(rest).host
      guard let server = view.servers.first(where: { $0.host == next }) else { return false }
      cluster.storage.move("hearth", to: server.id)
    case "server": try await act(on: member(words[0]), words[1])
    case "logs":
      let (member, text) = (try member(words[0]), words[1])
      try await cluster.until("\(words[0]) logs \(text)") { member.hasLogged(text) }
    case "silent":
      guard try !member(words[0]).hasLogged(words[1]) else { throw SceneFailure("it says so") }
    case "serves":
      let (member, part) = (try member(words[0]), words[1].components(separatedBy: " "))
      let deadline = ContinuousClock.now + .seconds(20)
      while let count = try await member.serves({ $0.count(of: part[0]) }), count != Int(part[1]) {
        guard .now < deadline else { throw SceneFailure("it serves \(count)") }
      }
    default: return false
    }
    return true
  }

  private func member(_ name: String) throws -> TestCluster.Member {
    guard let member = members[name] else { throw SceneFailure("there is no server \(name)") }
    return member
  }

  private func act(on member: TestCluster.Member, _ text: String) async throws {
    let store = member.store
    switch text {
    case "cut": store.cut()
    case "cut busy": store.cut(by: .busy)
    case "cut standby": store.cut(waitingForStandby: true)
    case "mend": store.mend()
    case "suspend": store.suspend()
    case "resume": store.resume()
    case "stick": store.stick()
    case "stop": await member.server.stop()
    case _ where text.hasPrefix("leap "):
      member.clock.leap(by: .seconds(Int(text.dropFirst(5)) ?? 0))
    case _ where text.hasPrefix("rules "):
      try await member.server.setRules(String(text.dropFirst(6)))
    default: throw SceneFailure("no server does that")
    }
  }
}

extension TestCluster.Member.Serving {
  fileprivate func count(of part: String) -> Int? {
    ["sessions": sessions, "listens": listens, "strangers": strangers, "users": signedIn][part]
  }
}
