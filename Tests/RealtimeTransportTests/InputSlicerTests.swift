import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import RealtimeTransport

@Suite("An input slicer")
struct InputSlicerTests {
  /// Counts what passes, and pauses at each request.
  private final class Counter: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    let slicer: InputSlicer
    var requests = 0

    init(_ slicer: InputSlicer) { self.slicer = slicer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      guard case .end = Self.unwrapInboundIn(data) else { return }
      requests += 1
      slicer.setReading(false)
    }
  }

  private func makeChannel() throws -> (EmbeddedChannel, InputSlicer, Counter) {
    let slicer = InputSlicer()
    let counter = Counter(slicer)
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandlers(
      slicer,
      ByteToMessageHandler(HTTPRequestDecoder()),
      counter
    )
    return (channel, slicer, counter)
  }

  @Test(
    "Few requests are decoded before the first is answered, however many one read contains",
    arguments: ["OPTIONS * ", "OPTIONS /a.json ", "GET /livez ", "HEAD / ", "GET /.lp?start=t "]
  )
  func pipelined(start: String) throws {
    let (channel, slicer, counter) = try makeChannel()
    let request = "\(start)HTTP/1.1\r\nHost: x\r\n\r\n"
    let count = 64 * 1_024 / request.utf8.count
    let input = String(repeating: request, count: count)
    try channel.writeInbound(ByteBuffer(string: input))
    var most = counter.requests
    var last = counter.requests
    while slicer.holdsInput {
      slicer.setReading(true)
      most = max(most, counter.requests - last)
      last = counter.requests
    }
    #expect(counter.requests == count)
    #expect(most <= 10)
    _ = try channel.finish()
  }

  @Test("A long body passes in few slices, and nothing is requested after the end of the input")
  func body() throws {
    let (channel, slicer, counter) = try makeChannel()
    let head = "PUT /a.json HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
    try channel.writeInbound(ByteBuffer(string: head + String(repeating: "1", count: 1_000_000)))
    #expect(counter.requests == 1)
    #expect(!slicer.holdsInput)
    slicer.drop()
    try channel.writeInbound(ByteBuffer(string: head))
    #expect(!slicer.holdsInput && counter.requests == 1)
    _ = try channel.finish()
  }
}
