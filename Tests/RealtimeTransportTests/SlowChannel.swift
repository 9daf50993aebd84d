import NIOCore
import NIOEmbedded

@testable import RealtimeTransport

/// A channel with its own clock, whose peer reads only what the test allows.
final class SlowChannel {
  /// Holds what is flushed, and reports the amount waiting by the marks that the queue has set.
  private final class Gate: ChannelDuplexHandler {
    typealias InboundIn = Never
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private(set) var flushes = 0
    private(set) var writes: [Int] = []

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
      writes.append(Self.unwrapOutboundIn(data).readableBytes)
      context.write(data, promise: promise)
      update(context)
    }

    func flush(context: ChannelHandlerContext) {
      flushes += 1
    }

    /// Releases everything; all but the first bytes is held again.
    func take(_ count: Int, _ context: ChannelHandlerContext) -> [UInt8] {
      guard let channel = context.channel as? EmbeddedChannel else { return [] }
      context.flush()
      var bytes = ByteBuffer()
      while var next = try? channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&next) }
      let taken = bytes.readBytes(length: min(count, bytes.readableBytes)) ?? []
      if bytes.readableBytes > 0 { context.write(Self.wrapOutboundOut(bytes), promise: nil) }
      update(context)
      return taken
    }

    func update(_ context: ChannelHandlerContext) {
      guard let channel = context.channel as? EmbeddedChannel,
        let options = channel.syncOptions,
        let marks = try? options.getOption(.writeBufferWaterMark),
        let waiting = try? options.getOption(.bufferedWritableBytes)
      else { return }
      let before = channel.isWritable
      if waiting > marks.high { channel.isWritable = false }
      if waiting < marks.low { channel.isWritable = true }
      if channel.isWritable != before { context.fireChannelWritabilityChanged() }
    }
  }

  private final class Owner: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    var queue: OutputQueue?

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      queue?.writabilityChanged()
    }
  }

  private final class Record {
    var stalls: [String] = []
  }

  let queue: OutputQueue
  private let record = Record()
  private let channel = EmbeddedChannel()
  private let gate = Gate()
  private let owner = Owner()

  init(_ limits: TransportLimits, memory: ConnectionMemory? = nil) throws {
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandlers(gate, owner)
    let context = try pipeline.context(handler: owner)
    queue = OutputQueue(
      limits: Shared(limits),
      context: context,
      memory: memory
    ) { [record] in record.stalls.append($0) }
    owner.queue = queue
    try channel.connect(to: SocketAddress(unixDomainSocketPath: "/none")).wait()
  }

  /// Why the peer counted as too slow.
  var reasons: [String] { record.stalls }

  /// The length of each write to the channel.
  var writes: [Int] { gate.writes }

  /// How often the channel was flushed.
  var flushes: Int { gate.flushes }

  /// The number of bytes that the channel holds.
  var waiting: Int {
    (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
  }

  /// The marks at which the channel reports that it is full or has room again.
  var marks: ChannelOptions.Types.WriteBufferWaterMark? {
    try? channel.syncOptions?.getOption(.writeBufferWaterMark)
  }

  /// Sends bytes, and ends the tick.
  func send(_ bytes: [UInt8]) {
    append(bytes)
    endTick()
  }

  /// Sends bytes together with others of this tick.
  func append(_ bytes: [UInt8]) {
    queue.append(ByteBuffer(bytes: bytes))
  }

  func endTick() {
    channel.embeddedEventLoop.run()
  }

  /// Lets the peer read some of the waiting bytes.
  @discardableResult
  func take(_ count: Int) throws -> [UInt8] {
    gate.take(count, try channel.pipeline.syncOperations.context(handler: gate))
  }

  func pass(_ time: TimeAmount) {
    channel.embeddedEventLoop.advanceTime(by: time)
  }
}
