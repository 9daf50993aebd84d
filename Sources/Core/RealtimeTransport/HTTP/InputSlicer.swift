internal import NIOCore

/// Hands the input of a connection to the HTTP decoder in small slices, as long as its handler wants
/// more.
///
/// Requests without bodies are so short that one read may contain thousands. They are decoded only
/// when they are about to be answered; until then they are bytes here, and then in the socket of the
/// client. State: open ⇄ paused → dropping (everything is ignored). Confined to the event loop of the
/// channel.
final class InputSlicer: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private enum Flow {
    case open
    case paused
    case dropping
  }

  /// The length of a slice after a pause; each further slice is twice as long.
  private static let shortest = 256
  private static let longest = 64 * 1_024

  private var flow = Flow.open
  private var held = ByteBuffer()
  private var length = InputSlicer.shortest
  private var isFeeding = false
  /// Whether the client has ended its side, which is handed on after what waits here.
  private var hasEnded = false
  /// Whether the channel reads by itself.
  private var isAutomatic = true
  private var context: ChannelHandlerContext?
  /// The removal that waits until everything is handed on.
  private var removal: ChannelHandlerContext.RemovalToken?

  var holdsInput: Bool { held.readableBytes > 0 }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    held = ByteBuffer()
  }

  /// Leaves after everything that is left, because the connection changes to another protocol.
  func removeHandler(
    context: ChannelHandlerContext,
    removalToken: ChannelHandlerContext.RemovalToken
  ) {
    // The decoder first hands on what it still has of the slice.
    guard !isFeeding else {
      removal = removalToken
      return
    }
    if holdsInput { context.fireChannelRead(Self.wrapInboundOut(held)) }
    context.leavePipeline(removalToken: removalToken)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard flow != .dropping else { return }
    var bytes = Self.unwrapInboundIn(data)
    if holdsInput { held.writeBuffer(&bytes) } else { held = bytes }
    feed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event as? ChannelEvent == .inputClosed, holdsInput {
      hasEnded = true
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  /// Pauses the input, or goes on with what waits here before anything more is read.
  func setReading(_ isReading: Bool) {
    guard flow != .dropping else { return }
    flow = isReading ? .open : .paused
    guard !isReading else { return feed() }
    length = Self.shortest
    setAutoRead(false)
  }

  /// Reads further input only to notice its end.
  func drop() {
    flow = .dropping
    held = ByteBuffer()
    tellEnd()
    setAutoRead(true)
  }

  private func feed() {
    guard !isFeeding, let context else { return }
    isFeeding = true
    while flow == .open, let slice = held.readSlice(length: min(length, held.readableBytes)),
      slice.readableBytes > 0
    {
      length = min(2 * length, Self.longest)
      context.fireChannelRead(Self.wrapInboundOut(slice))
    }
    isFeeding = false
    if !holdsInput { held = ByteBuffer() }
    if flow == .open { setAutoRead(true) }
    if !holdsInput { tellEnd() }
    if let removal {
      self.removal = nil
      context.leavePipeline(removalToken: removal)
    }
  }

  private func tellEnd() {
    guard hasEnded else { return }
    hasEnded = false
    context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  private func setAutoRead(_ isReading: Bool) {
    guard let context, isReading != isAutomatic else { return }
    isAutomatic = isReading
    _ = try? context.channel.syncOptions?.setOption(.autoRead, value: isReading)
    if isReading { context.read() }
  }
}
