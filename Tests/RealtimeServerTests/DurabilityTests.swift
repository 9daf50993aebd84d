import Logging
import NIOConcurrencyHelpers
import NIOCore
import RealtimeCore
import RealtimeServer
import TestSupport
import Testing
import TransportTestSupport

@Suite("Durability of a server's data", .timeLimit(.minutes(1)), .cleansUp)
struct DurabilityTests {
  private func put(_ number: Int) -> String {
    #"{"t":"d","d":{"r":\#(number),"a":"p","b":{"p":"/a/k\#(number)","d":\#(number)}}}"#
  }

  private let get = #"{"t":"d","d":{"r":99,"a":"g","b":{"p":"/a","q":{}}}}"#

  @Test("Writes that arrive during a commit join the next batch")
  func groupCommit() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    let client = try await server.connectAndGreet()
    client.send(put(1))
    try await store.waitForCommit()
    for number in 2...50 { client.send(put(number)) }
    // Another connection is greeted only once everything sent earlier has been read.
    _ = try await server.connectAndGreet()
    store.release()
    try await client.expect(#""r":1,"#)
    store.open()
    for number in 2...50 { try await client.expect(#""r":\#(number),"#) }
    #expect(store.commitCount < 50)
  }

  @Test("A write reaches every listener in order, and its author before the response")
  func batchOfBroadcasts() async throws {
    let store = GateStore()
    let server = try await DatabaseServer.startForTest(store: store)
    var clients: [ClientProbe] = []
    for index in 0..<4 {
      let client = try await server.connectAndGreet()
      clients.append(client)
      // The last one only writes.
      guard index < 3 else { continue }
      try await client.ask(0, "q", #"{"p":"/a","h":""}"#)
    }
    clients[3].send(put(1))
    try await store.waitForCommit()
    // Two authors listen as well, the third does not.
    for number in 2...41 {
      clients[number % 3 == 2 ? 3 : number % 3].send(put(number))
      if number % 10 == 1 { _ = try await server.connectAndGreet() }
    }
    store.open()
    var orders: [[Int]] = []
    for (index, client) in clients.enumerated() {
      let own = (2...41).filter { ($0 % 3 == 2 ? 3 : $0 % 3) == index } + (index == 3 ? [1] : [])
      var pushed: [Int] = []
      var answered = 0
      for _ in 0..<(own.count + (index < 3 ? 41 : 0)) {
        let message = try await client.next()
        if message.contains(#""a":"d""#) {
          let data = try #require(message.split(separator: #""d":"#).last)
          pushed.append(try #require(Int(data.prefix { $0.isNumber })))
        } else {
          let digits = try #require(message.split(separator: #""r":"#).last).prefix { $0.isNumber }
          let number = try #require(Int(digits))
          #expect(own.contains(number) && message.contains(#""s":"ok""#))
          #expect(index == 3 || pushed.last == number)
          answered += 1
        }
      }
      #expect(answered == own.count)
      if index < 3 { orders.append(pushed) }
    }
    #expect(orders.allSatisfy { $0 == orders[0] && $0.sorted() == Array(1...41) })
  }

  @Test("Writes are refused while the store fails and accepted once it works again")
  func storeFailure() async throws {
    let store = GateStore()
    let log = NIOLockedValueBox<[String]>([])
    let server = try await DatabaseServer.startForTest(store: store, logger: .collecting(log))
    let client = try await server.connectAndGreet()
    for request in 1...2 {
      store.release(StoreError(.full, description: "the disk is full"))
      client.send(put(request))
      let refusal = try await client.expect(#""r":\#(request),"b":{"s":"unavailable""#)
      #expect(refusal.contains("full"))
    }
    store.open()
    client.send(put(3))
    #expect(try await client.next() == #"{"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}"#)
    client.send(get)
    #expect(try await client.next() == #"{"t":"d","d":{"r":99,"b":{"s":"ok","d":{"k3":3}}}}"#)
    let said = log.withLockedValue { $0.filter { $0.contains("refused") || $0.contains("again") } }
    #expect(said.count == 2, "the same failure is told once")
    #expect(said.first?.contains("error writes were refused") == true)
    #expect(said.last?.contains("notice the store works again") == true)
  }
}
