import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import RealtimeServer
@testable import RealtimeTransport

/// Requests of long polling wait for their turn like all others.
@Suite("Long polling: turns")
struct LongPollingTurnTests {
  /// Work during which requests arrive.
  private final class Busy: Schedulable {
    let account = SchedulerAccount()
    var isWaiting = false
    var isReady = true
    private let work: () -> Void

    init(_ work: @escaping () -> Void) { self.work = work }

    func takeTurn() {
      isReady = false
      work()
    }
  }

  @Test(
    "A request is answered after the work before it, and charged to its connection",
    arguments: [
      "/.lp?id=a&pw=b&ser=1", "/.lp?id=a&pw=b&disconn=t", "/.lp?dframe=t&id=a&pw=b", "/.lp",
    ]
  )
  func turns(target: String) throws {
    let loop = EmbeddedEventLoop()
    let context = ServerContext(
      eventLoop: loop,
      options: ServerOptions(port: 0, rules: .open),
      logger: Logger(label: "test"),
      clock: { 0 }
    )
    let stores = MemoryTreeStores(["hearth": MemoryTreeStore()])
    let core = ServerCore(stores: stores, context: context)
    final class Connection {}
    let connection = Connection()
    let request = HTTPRequest(
      head: HTTPRequestHead(version: .http1_1, method: .GET, uri: target),
      peer: .network(address: "127.0.0.1:1"),
      connection: ObjectIdentifier(connection)
    )
    var answers = 0
    let account = context.account(of: request.connection)
    #expect(account.line(at: .now()) == .new)
    context.scheduler.request(
      by: Busy {
        core.answer(request).assumeIsolated().whenComplete { _ in answers += 1 }
        #expect(answers == 0)
        #expect(account.line(at: .now()) == .new)
      }
    )
    loop.run()
    #expect(account.line(at: .now()) != .new)
    #expect(answers == 1)
  }
}
