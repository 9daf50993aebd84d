import NIOCore
import NIOPosix

/// Opens connections, at least one, a few at a time; confined to its event loop.
final class Dialing {
  /// How many connections are being opened at a time.
  private static let width = 32

  /// Those that are open or being opened.
  private var connections: [LoadConnection] = []
  private let target: LoadTarget
  private let openings: [[Exchange]]
  private let eventLoop: any EventLoop
  private let finished: EventLoopPromise<LoadGenerator.Connections>
  private var opened = 0

  init(to target: LoadTarget, _ openings: [[Exchange]], on eventLoop: any EventLoop) {
    self.target = target
    self.openings = openings
    self.eventLoop = eventLoop
    finished = eventLoop.makePromise()
  }

  /// Opens them all.
  func dial() -> EventLoopFuture<LoadGenerator.Connections> {
    for _ in 0..<min(Self.width, openings.count) { dialNext() }
    let count = openings.count
    let deadline = eventLoop.scheduleTask(in: .seconds(60)) { [finished] in
      finished.fail(LoadError("\(count) connections could not be opened within a minute"))
    }
    finished.futureResult.whenComplete { _ in deadline.cancel() }
    return finished.futureResult
  }

  private func dialNext() {
    guard connections.count < openings.count else { return }
    let connection = LoadConnection(target.dialect, opening: openings[connections.count])
    connections.append(connection)
    connection.onOpen = { [self] in didOpen() }
    connection.onFailure = { [finished] in finished.fail($0) }
    let bound = NIOLoopBound(connection, eventLoop: eventLoop)
    ClientBootstrap(group: eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(bound.value)
        }
      }
      .connect(to: target.address)
      .whenFailure { [finished] in finished.fail($0) }
  }

  private func didOpen() {
    opened += 1
    guard opened == openings.count else { return dialNext() }
    finished.succeed(NIOLoopBound(connections, eventLoop: eventLoop))
  }
}
