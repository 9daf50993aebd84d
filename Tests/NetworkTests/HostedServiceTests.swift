import Dispatch
import NIOCore
import NIOPosix
import RealtimeDatabase
import RealtimeTransport
import TestSupport
import Testing

@Suite("The hosted service, played by a stand-in", .timeLimit(.minutes(1)), .cleansUp)
struct HostedServiceTests {
  private static let internalHost = "s-usc1c-nss-201.firebaseio.com"

  private func open(_ url: String, at standIn: StandIn) throws -> Database {
    let database = try Database(url: url, options: standIn.options)
    database.callbackQueue = DispatchQueue(label: "test.callbacks")
    afterTest { await database.close() }
    return database
  }

  @Test(
    "is reached by the host name in the URL, which its certificate must match",
    arguments: [
      ("https://my-ns.firebaseio.com", "my-ns.firebaseio.com /.ws?v=5&ns=my-ns"),
      ("my-ns.firebaseio.com", "my-ns.firebaseio.com /.ws?v=5&ns=my-ns"),
      (
        "https://db1.europe-west1.firebasedatabase.app",
        "db1.europe-west1.firebasedatabase.app /.ws?v=5&ns=db1"
      ),
    ]
  )
  func connects(url: String, request: String) async throws {
    let standIn = try await StandIn(greeting: { [StandIn.hello($0)] })
    let database = try open(url, at: standIn)
    database.goOnline()
    let requests = standIn.requests
    #expect(await requests.next() == request)
    let messages = standIn.messages
    #expect(await messages.next()?.contains(#""a":"s""#) == true)
  }

  @Test("is reached at the host from its greeting on reconnect, with the last session ID")
  func cachedHost() async throws {
    let standIn = try await StandIn(greeting: { _ in [StandIn.hello(Self.internalHost)] })
    let database = try open("https://my-ns.firebaseio.com", at: standIn)
    database.reference(withPath: "posts").observe(.value) { _ in }
    let requests = standIn.requests
    #expect(await requests.next() == "my-ns.firebaseio.com /.ws?v=5&ns=my-ns")
    for _ in 0..<2 {
      while let message = await standIn.messages.next(), !message.contains(#""a":"q""#) {}
      standIn.hangUp()
      #expect(await requests.next() == "\(Self.internalHost) /.ws?v=5&ls=uVWN&ns=my-ns")
    }
  }

  @Test("is reached at its public host again when the host from its greeting refuses connections")
  func cachedHostGone() async throws {
    let standIn = try await StandIn(
      greeting: { $0 == Self.internalHost ? nil : [StandIn.hello(Self.internalHost)] }
    )
    let database = try open("https://my-ns.firebaseio.com", at: standIn)
    database.goOnline()
    let requests = standIn.requests
    let messages = standIn.messages
    _ = await requests.next()
    _ = await messages.next()
    standIn.hangUp()
    #expect(await requests.next()?.hasPrefix("\(Self.internalHost) ") == true)
    #expect(await requests.next()?.hasPrefix("my-ns.firebaseio.com ") == true)
  }

  @Test("redirects a client before and after the greeting, and listens follow")
  func redirects() async throws {
    let other = "s-usc1c-nss-202.firebaseio.com"
    let standIn = try await StandIn(greeting: { host in
      host == "my-ns.firebaseio.com"
        ? [StandIn.reset(to: Self.internalHost)] : [StandIn.hello(host)]
    })
    let database = try open("https://my-ns.firebaseio.com", at: standIn)
    database.reference(withPath: "posts").observe(.value) { _ in }
    let requests = standIn.requests
    let messages = standIn.messages
    #expect(await requests.next() == "my-ns.firebaseio.com /.ws?v=5&ns=my-ns")
    #expect(await requests.next() == "\(Self.internalHost) /.ws?v=5&ns=my-ns")
    #expect(await messages.next()?.contains(#""a":"s""#) == true)
    let listen = await messages.next() ?? ""
    #expect(listen.hasPrefix(Self.internalHost) && listen.contains(#""p":"/posts""#))
    standIn.say(StandIn.reset(to: other))
    #expect(await requests.next() == "\(other) /.ws?v=5&ls=uVWN&ns=my-ns")
    let again = await messages.next() ?? ""
    #expect(again.hasPrefix(other) && again.contains(#""p":"/posts""#))
  }

  @Test("is not retried after a shutdown message")
  func shutdown() async throws {
    let standIn = try await StandIn(greeting: { host in
      [StandIn.hello(host), #"{"t":"c","d":{"t":"s","d":"the database was deleted"}}"#]
    })
    let database = try open("https://my-ns.firebaseio.com", at: standIn)
    let (phases, phase) = AsyncStream.makeStream(of: ConnectionStatus.Phase.self)
    database.observeConnection { phase.yield($0.phase) }
    database.goOnline()
    while let next = await phases.next(), next != .connected {}
    while let next = await phases.next(), next != .closed {}
  }

  @Test("receives account and token requests at the documented URLs")
  func identity() async throws {
    let standIn = try await StandIn(answer: { host, path in
      HTTPAnswer(status: 200, contentType: "application/json", body: Array("\(host)\(path)".utf8))
    })
    var client = HTTPClient(
      group: MultiThreadedEventLoopGroup.singleton,
      trust: standIn.certificates.trust,
      timeout: .seconds(30)
    )
    client.detours = standIn.detours
    let requests = standIn.requests
    let signUp = try await client.send(
      IdentityService.hosted.request(.accounts("signUp"), key: "K&1", body: Array("{}".utf8))
    )
    #expect(signUp.status == 200)
    #expect(
      await requests.next()
        == "identitytoolkit.googleapis.com POST /v1/accounts:signUp?key=K&1 {}"
    )
    let form = "grant_type=refresh_token&refresh_token=R"
    let token = try await client.send(
      IdentityService.hosted.request(
        .token,
        key: "K",
        contentType: "application/x-www-form-urlencoded",
        body: Array(form.utf8)
      )
    )
    #expect(token.header("content-type") == "application/json")
    #expect(await requests.next() == "securetoken.googleapis.com POST /v1/token?key=K \(form)")
  }

  @Test("has the same paths on a substitute server, below the service's host name")
  func identityElsewhere() throws {
    let target = ConnectionTarget(host: "localhost", port: 9_099)
    let request = try IdentityService.server(target).request(.token, key: "K", body: [])
    #expect(request.path == "/securetoken.googleapis.com/v1/token?key=K")
    #expect(request.target == target)
    let call = try IdentityService.server(target).request(.accounts("lookup"), key: "K", body: [])
    #expect(call.path == "/identitytoolkit.googleapis.com/v1/accounts:lookup?key=K")
  }

  @Test(
    "is recognized by its domains",
    arguments: [
      ("a.firebaseio.com", true), ("A.FirebaseIO.com", true),
      ("a.europe-west1.firebasedatabase.app", true), ("firebaseio.com.example.test", false),
      ("notfirebaseio.com", false),
    ]
  )
  func domains(host: String, isHosted: Bool) {
    #expect(HostedService.isDatabaseHost(host) == isHosted)
  }
}
