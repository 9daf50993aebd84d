import Foundation
import NIOCore
import NIOPosix
import RealtimeCore
import RealtimeServer

/// A simulated cable between one terminal and the server that can be pulled and plugged in again.
///
/// All state belongs to one event loop.
final class DemoCable: Sendable {
  private struct State {
    var isPlugged = true
    var ends: [any Channel] = []
  }

  private let loop: any EventLoop
  private let server: String
  private let state: NIOLoopBoundBox<State>

  /// Makes a cable; it has no socket before ``lay(at:)``.
  ///
  /// - Parameter server: The socket of the server.
  init(to server: String) {
    loop = MultiThreadedEventLoopGroup.singleton.next()
    self.server = server
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: loop)
  }

  /// Opens the socket at which the cable begins.
  ///
  /// - Throws: The system's error.
  func lay(at socket: String) throws {
    _ = try ServerBootstrap(group: loop)
      .childChannelOption(.autoRead, value: false)
      .childChannelInitializer { client in
        client.eventLoop.makeCompletedFuture {
          let beginning = CableBeginning { self.join($0) }
          try client.pipeline.syncOperations.addHandler(beginning)
        }
      }
      .bind(unixDomainSocketPath: socket).wait()
  }

  /// Pulls the cable, or plugs it in.
  func set(isPlugged: Bool) {
    loop.execute { [self] in
      state.value.isPlugged = isPlugged
      guard !isPlugged else { return }
      for end in state.value.ends { end.close(promise: nil) }
      state.value.ends = []
    }
  }

  /// Joins an incoming connection to a connection to the server.
  private func join(_ client: any Channel) {
    guard state.value.isPlugged else { return client.close(promise: nil) }
    ClientBootstrap(group: loop)
      .channelOption(.autoRead, value: false)
      .connect(unixDomainSocketPath: server)
      .flatMapThrowing { other in
        try client.pipeline.syncOperations.addHandler(CableEnd(other))
        try other.pipeline.syncOperations.addHandler(CableEnd(client))
        self.state.value.ends.removeAll { !$0.isActive }
        self.state.value.ends += [client, other]
        client.read()
        other.read()
      }
      .whenFailure { _ in client.close(promise: nil) }
  }
}

/// Reports a connection as soon as it can be read from.
private final class CableBeginning: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let onActive: (any Channel) -> Void

  init(_ onActive: @escaping (any Channel) -> Void) {
    self.onActive = onActive
  }

  func channelActive(context: ChannelHandlerContext) {
    onActive(context.channel)
  }
}

/// Forwards what arrives at one end of a cable, one chunk at a time.
private final class CableEnd: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let other: any Channel

  init(_ other: any Channel) {
    self.other = other
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let channel = context.channel
    other.writeAndFlush(Self.unwrapInboundIn(data)).whenSuccess { channel.read() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    other.close(promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// The rules for clients that connect to the port of a demonstration.
enum DemoRules {
  /// The rules document.
  static let source = """
    {
      "rules": {
        ".read": true,
        "posts": { "$post": { ".write": "auth != null" } }
      }
    }
    """

  /// The rule that keeps a client that is not signed in from writing at a path.
  static func explanation(of path: String, in root: JSONValue) -> String? {
    guard let rules = try? RuleSet(source: source), let before = try? Node(json: root) else {
      return nil
    }
    let place = Path(wire: path)
    let decision = rules.canWrite(
      [place],
      by: .nobody,
      now: 0,
      from: before,
      to: before.setting(place, to: .leaf(.bool(true))),
      explaining: true
    )
    guard !decision.isAllowed, let rule = decision.explanation.decisive else { return nil }
    return "\(rule.rulePath) wants \(rule.expression)"
  }
}
