import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeTransport
import Testing

@testable import RealtimeServer

/// How a client of another server's database is passed from one server to the next.
@Suite("A client that outlives its leader")
struct ResumableClientTests {
  /// The connection of a client.
  private final class Line: MessageConnection {
    var peer: Peer { .network(address: "127.0.0.1") }
    var request: HTTPRequest? { nil }
    var hasNotableOutput: Bool { false }
    var isCongested: Bool { false }
    private(set) var isClosed = false

    func send(_ message: EncodedMessage) {}
    func allow(isStranger: Bool, messageBytes: Int) {}
    func whenRelieved(_ body: @escaping () -> Void) { body() }
    func keepAlive() {}
    func setReading(_ isReading: Bool) {}
    func close(code: UInt16, reason: String) { isClosed = true }
  }

  /// A client that listens to `/n`, as a copy has served it that has just ended.
  private final class Scene {
    let line = Line()
    let client: ResumableClient
    private let data = CopiedData(.empty)
    /// What the client has told those who serve it.
    var heard: [String] { messages.withLockedValue { $0 } }
    private let messages = NIOLockedValueBox<[String]>([])

    init(on eventLoop: any EventLoop) {
      let handshake = HTTPRequest(
        forwarded: "GET",
        target: "/.ws?v=5&ns=hearth",
        headerLines: [],
        body: [],
        peer: .network(address: "127.0.0.1")
      )
      client = ResumableClient(
        line,
        handshake: handshake,
        at: "here",
        on: eventLoop,
        onLoss: { _ in true },
        onDeparture: {}
      )
      resume()
      say(#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/n","h":""}}}"#)
      tell(#"{"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}"#)
      lose()
      client.copy = data
    }

    func say(_ text: String) { client.callbacks.onMessage(Array(text.utf8)) }

    func tell(_ text: String) { client.send(EncodedMessage(Array(text.utf8))) }

    func lose() { client.close(code: CloseCode.goingAway, reason: "the leader is lost") }

    func resume() {
      let callbacks = ServerHandlers.Callbacks(
        onMessage: { [messages] bytes in
          messages.withLockedValue { $0.append(String(decoding: bytes, as: UTF8.self)) }
        },
        onExcess: { _ in },
        onClose: { _ in }
      )
      let copy = client.copy
      _ = client.resume(by: { _ in callbacks }) { _ in copy == nil ? nil : "HASH" }
    }
  }

  /// Returns what the client has told those who serve it.
  private func run(_ body: @escaping @Sendable (Scene) -> Void) async throws -> [String] {
    let eventLoop = MultiThreadedEventLoopGroup.singleton.any()
    return try await eventLoop.submit {
      let scene = Scene(on: eventLoop)
      body(scene)
      return scene.line.isClosed ? [] : scene.heard
    }.get()
  }

  @Test("Its data is known at the third server if the second has sent nothing")
  func silent() async throws {
    let heard = try await run { scene in
      for _ in 0..<3 {
        scene.resume()
        // The answer to what was renewed is not for the client.
        scene.tell(#"{"t":"d","d":{"r":-1,"b":{"s":"ok","d":""}}}"#)
        scene.lose()
      }
    }
    #expect(heard.map { $0.contains("HASH") } == [false, true, true, true])
  }

  @Test(
    "Its data is no longer known once a server has sent it something",
    arguments: [
      #"{"t":"d","d":{"a":"d","b":{"p":"n","d":2}}}"#,
      #"{"t":"d","d":{"a":"m","b":{"p":"n","d":{"a":2}}}}"#,
      #"{"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}"#,
    ]
  )
  func told(message: String) async throws {
    let heard = try await run { scene in
      scene.resume()
      scene.tell(message)
      scene.lose()
      scene.resume()
    }
    #expect(heard.map { $0.contains("HASH") } == [false, true, false])
  }

  @Test("Its data is no longer known once it has requested something")
  func asked() async throws {
    let heard = try await run { scene in
      scene.resume()
      scene.say(#"{"t":"d","d":{"r":2,"a":"q","b":{"p":"/m","h":"x"}}}"#)
      scene.lose()
      scene.resume()
    }
    // The listen that was not answered is asked again after the one that is renewed.
    #expect(heard.map { $0.contains("HASH") } == [false, true, false, false, false])
    #expect(heard.last?.contains(#""p":"/m""#) == true)
  }
}
