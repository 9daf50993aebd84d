import NIOCore
import RealtimeCore
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("Redirect tickets", .timeLimit(.minutes(1)), .cleansUp)
struct RedirectTicketTests {
  private static let key = String(repeating: "k", count: 32)
  private static let rules = DatabaseServer.Rules.source(
    #"{"rules":{"$user":{".read":"auth.uid == $user",".write":"auth.uid == $user"}}}"#
  )

  /// Two servers that share data and accounts, one of which leads.
  private struct Pair {
    let storage: MemoryClusterStore
    let accounts: MemoryIdentityStore
    let leader: IdentityServer
    let other: IdentityServer

    var host: String { "127.0.0.1:\(leader.server.port ?? 0)" }

    /// The target to which the other server redirects a request, without the host.
    func target(
      _ method: String,
      _ target: String,
      token: String,
      _ body: String? = nil
    ) async throws -> String {
      let answer = try await other.request(
        method,
        target,
        body,
        lines: ["Authorization: Bearer \(token)"],
        gives: 307
      )
      let location = try #require(answer.lines["location"])
      #expect(location.hasPrefix("http://\(host)/"))
      #expect(!location.contains(token))
      return String(location.dropFirst("http://\(host)".count))
    }

    /// A ticket as a server would seal it, apart from the given change.
    func ticket(
      _ method: String,
      _ target: String,
      change: (inout RedirectTicket) -> Void
    ) throws -> String {
      let view = storage.view()
      let server = try #require(view.servers.first { $0.host == host })
      var ticket = RedirectTicket(
        server: server.id.description,
        request: TicketedRequest(method: method, target: target, database: "hearth"),
        end: Int64(view.time / .milliseconds(1)) + RedirectTicket.lifetime,
        credential: VerifiedCredential(identity: .administrator)
      )
      change(&ticket)
      let keys = try #require(accounts.secret(.keys).flatMap { KeyRing(json: $0) })
      let text = try #require(ticket.sealed(with: keys.refreshSecret))
      return "\(target)&\(RedirectTicket.parameter)=\(text)"
    }

    func refusal(_ method: String, _ target: String) async throws -> String {
      let answer = try await leader.request(method, target, gives: 401)
      return answer["error"]
    }
  }

  private func start() async throws -> Pair {
    let storage = MemoryClusterStore { LeapingClock.real }
    let accounts = MemoryIdentityStore()
    let servers = try await IdentityServer.startTwo(
      rules: Self.rules,
      sharing: accounts,
      and: storage,
      administratorKey: Self.key
    )
    let deadline = NIODeadline.now() + .seconds(20)
    while NIODeadline.now() < deadline {
      let statuses = [
        try await servers[0].request("OPTIONS", "/x.json").status,
        try await servers[1].request("OPTIONS", "/x.json").status,
      ]
      for index in 0...1 where statuses[index] == 200 && statuses[1 - index] == 307 {
        return Pair(
          storage: storage,
          accounts: accounts,
          leader: servers[index],
          other: servers[1 - index]
        )
      }
    }
    throw StoreError(.failed, description: "nobody leads")
  }

  @Test("A token becomes a single-use ticket in the URL that identifies the user or administrator")
  func once() async throws {
    let pair = try await start()
    let user = try await pair.other.signUp()
    let (uid, token) = (user["localId"], user["idToken"])
    let own = try await pair.target("PUT", "/\(uid).json", token: token, "7")
    try await pair.leader.request("PUT", own, "7", gives: 200)
    #expect(try await pair.refusal("PUT", own).contains("has already been used"))
    // It counts for this user, and for no other.
    let foreign = try await pair.target("GET", "/somebody.json", token: token)
    try await pair.leader.request("GET", foreign, gives: 401)
    let all = try await pair.target("GET", "/.json?shallow=true", token: Self.key)
    let read = try await pair.leader.request("GET", all, gives: 200)
    #expect(read.json[uid] != nil)
    let acting = "/\(uid).json?auth_variable_override=%7B%22uid%22:%22x%22%7D"
    let denied = try await pair.target("GET", acting, token: Self.key)
    try await pair.leader.request("GET", denied, gives: 401)
    let rules = try await pair.target("GET", "/.settings/rules.json", token: Self.key)
    try await pair.leader.request("GET", rules, gives: 200)
  }

  @Test("A token is verified before the redirect; one already in the URL stays there")
  func checked() async throws {
    let pair = try await start()
    let false1 = ["Authorization: Bearer \(Self.key.dropLast())x"]
    try await pair.other.request("GET", "/x.json", lines: false1, gives: 401)
    let answer = try await pair.other.request("GET", "/x.json?access_token=\(Self.key)")
    #expect(
      answer.lines["location"] == "http://\(pair.host)/x.json?access_token=\(Self.key)&ns=hearth"
    )
  }

  @Test("A ticket is valid only for its method, path, parameters and database")
  func bound() async throws {
    let pair = try await start()
    let target = try await pair.target("GET", "/a.json?print=pretty", token: Self.key)
    for (old, new) in [("/a.json", "/b.json"), ("pretty", "silent"), ("ns=hearth", "ns=other")] {
      let changed = target.replacing(old, with: new)
      #expect(changed != target)
      #expect(try await pair.refusal("GET", changed).contains("is for another request"))
    }
    #expect(try await pair.refusal("DELETE", target).contains("is for another request"))
    let line = "X-HTTP-Method-Override: DELETE"
    try await pair.leader.request("POST", target, "1", lines: [line], gives: 401)
    #expect(
      try await pair.refusal("GET", target + "&x=1").contains("is not from one of these servers")
    )
    // None of these attempts has used it up.
    try await pair.leader.request("GET", target, gives: 200)
  }

  @Test("A ticket that is forged, expired or for another server is refused")
  func refused() async throws {
    let pair = try await start()
    let target = "/a.json?ns=hearth"
    let good = try pair.ticket("GET", target) { _ in }
    for position in [60, 20, 1] {
      var bytes = Array(good.utf8)
      let index = bytes.count - position
      bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      let forged = String(decoding: bytes, as: UTF8.self)
      #expect(try await pair.refusal("GET", forged).contains("is not from one of these servers"))
    }
    try await pair.leader.request("GET", good, gives: 200)
    let margin = RedirectTicket.margin
    let old = try pair.ticket("GET", target) { $0.end -= RedirectTicket.lifetime + margin }
    #expect(try await pair.refusal("GET", old).contains("has expired"))
    let late = try pair.ticket("GET", target) { $0.end -= RedirectTicket.lifetime }
    #expect(try await pair.leader.request("GET", late).status == 200, "within the margin of clocks")
    let early = try pair.ticket("GET", target) { $0.end += 60_000 }
    #expect(try await pair.refusal("GET", early).contains("has expired"))
    let other = try pair.ticket("GET", target) { $0.server = "other" }
    #expect(try await pair.refusal("GET", other).contains("is for another server"))
  }

  @Test("A ticket is refused once its user is deleted")
  func deleted() async throws {
    let pair = try await start()
    let user = try await pair.other.signUp()
    let target = try await pair.target("GET", "/\(user["localId"]).json", token: user["idToken"])
    let gone = try await pair.leader.post("delete", ["idToken": .string(user["idToken"])])
    #expect(gone.status == 200)
    try await pair.leader.request("GET", target, gives: 401)
  }

  @Test("A server that no longer leads redirects again with a new ticket")
  func passedOn() async throws {
    let pair = try await start()
    let first = try await pair.target("GET", "/a.json", token: Self.key)
    let view = pair.storage.view()
    let next = try #require(view.servers.first { $0.host != pair.host })
    pair.storage.move("hearth", to: next.id)
    try await eventually {
      try await pair.leader.request("OPTIONS", "/a.json").status == 307
    }
    let again = try await pair.leader.request("GET", first, gives: 307)
    let location = try #require(again.lines["location"])
    let second = try #require(location.split(separator: next.host, maxSplits: 1).last)
    #expect(second != first)
    try await pair.other.request("GET", String(second), gives: 200)
    #expect(try await pair.refusal("GET", first).contains("has already been used"))
  }
}
