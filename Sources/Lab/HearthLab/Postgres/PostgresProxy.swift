private import Foundation
private import NIOConcurrencyHelpers
private import NIOCore

/// A proxy between a program and PostgreSQL, or another server, that imitates network faults.
package final class PostgresProxy: Sendable {
  /// What happens to data that is sent.
  package enum Weather: Sendable {
    /// It arrives.
    case fair
    /// Nothing arrives in either direction, without an error; new connections are not answered.
    case silent
    /// Replies from PostgreSQL are lost, and then the connection ends; new connections work.
    case losingReplies
    /// Connections end, and new ones are refused.
    case down
  }

  private struct State {
    var weather = Weather.fair
    var connections: [Int32] = []
    var count = 0
    /// Connections with lower numbers are silent, whatever the weather is.
    var firstAudible = 0
    /// The connections through which one of the watched texts was sent.
    var watched: Set<Int> = []
    /// Whether the watched connections are silent, whatever the weather is.
    var areWatchedSilent = false
    var target: Int
  }

  /// The port of 127.0.0.1 that programs connect to.
  package let port: Int
  private let listener: Int32
  private let texts: [Data]
  private let state: NIOLockedValueBox<State>

  /// Creates a proxy for a PostgreSQL server.
  ///
  /// - Parameters:
  ///   - server: The server.
  ///   - texts: Texts; connections through which one is sent can be silenced apart from others.
  /// - Throws: ``PostgresServer/Failure`` when no port is available.
  package convenience init(to server: PostgresServer, watching texts: [String] = []) throws {
    try self.init(to: server.port, watching: texts)
  }

  /// Creates a proxy for a port of 127.0.0.1, which ``aim(at:)`` may set later.
  ///
  /// - Throws: ``PostgresServer/Failure`` when no port is available.
  package init(to target: Int = 0, watching texts: [String] = []) throws {
    self.texts = texts.map { Data($0.utf8) }
    state = NIOLockedValueBox(State(target: target))
    (listener, port) = try Self.listeningSocket()
    Thread.detachNewThread { [weak self, listener] in
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0, let self else { break }
        self.serve(client)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
    for descriptor in state.withLockedValue({ $0.connections }) {
      shutdown(descriptor, Int32(SHUT_RDWR))
    }
  }

  /// The address of a database as reached through the proxy.
  package func url(of url: String) -> String {
    url.replacingOccurrences(of: ":\(target)/", with: ":\(port)/")
  }

  /// Sets the port that connections are forwarded to.
  package func aim(at port: Int) { state.withLockedValue { $0.target = port } }

  private var target: Int { state.withLockedValue { $0.target } }

  package func set(_ weather: Weather) {
    let ended = state.withLockedValue { state -> [Int32] in
      state.weather = weather
      guard case .down = weather else { return [] }
      defer { state.connections = [] }
      return state.connections
    }
    for descriptor in ended { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }

  /// Silences the connections that exist, without an error; later ones work.
  package func silenceConnections() { state.withLockedValue { $0.firstAudible = $0.count } }

  /// Silences the connections through which a watched text was or will be sent, or ends that.
  package func silenceWatched(_ isSilent: Bool) {
    state.withLockedValue { $0.areWatchedSilent = isSilent }
  }

  private var weather: Weather { state.withLockedValue { $0.weather } }

  private func isSilent(_ connection: Int) -> Bool {
    state.withLockedValue { state in
      if case .silent = state.weather { return true }
      if state.areWatchedSilent, state.watched.contains(connection) { return true }
      return connection < state.firstAudible
    }
  }

  /// A socket at a port of 127.0.0.1 that was free.
  static func listeningSocket() throws(PostgresServer.Failure) -> (descriptor: Int32, port: Int) {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 16) == 0
          && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard isBound else {
      close(descriptor)
      throw PostgresServer.Failure(description: "there is no free port")
    }
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
  }

  private func serve(_ client: Int32) {
    if case .down = weather {
      close(client)
      return
    }
    let address = try? SocketAddress(ipAddress: "127.0.0.1", port: target)
    guard let server = address?.connectedSocket() else {
      close(client)
      return
    }
    let number = state.withLockedValue { state in
      state.connections += [client, server]
      defer { state.count += 1 }
      return state.count
    }
    // A connection that begins in this weather does not lose its replies.
    let isSpared = weather == .losingReplies
    relay(from: client, to: server, number, isWatched: true) { _ in true }
    relay(from: server, to: client, number) { $0 != .losingReplies || isSpared }
  }

  private func watch(_ bytes: Data, _ number: Int) {
    guard texts.contains(where: { bytes.range(of: $0) != nil }) else { return }
    _ = state.withLockedValue { $0.watched.insert(number) }
  }

  /// Forwards bytes until one side ends, or the closure says that the bytes are lost.
  private func relay(
    from source: Int32,
    to target: Int32,
    _ number: Int,
    isWatched: Bool = false,
    _ arrives: @escaping @Sendable (Weather) -> Bool
  ) {
    Thread.detachNewThread { [weak self] in
      var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
      while true {
        let count = read(source, &buffer, buffer.count)
        guard count > 0 else { break }
        if isWatched { self?.watch(Data(buffer.prefix(count)), number) }
        while self?.isSilent(number) == true { usleep(10_000) }
        guard let weather = self?.weather, arrives(weather) else { break }
        var sent = 0
        while sent < count {
          let more = buffer.withUnsafeBytes { bytes in
            send(target, bytes.baseAddress?.advanced(by: sent), count - sent, Int32(MSG_NOSIGNAL))
          }
          guard more > 0 else { break }
          sent += more
        }
        guard sent == count else { break }
      }
      shutdown(source, Int32(SHUT_RDWR))
      shutdown(target, Int32(SHUT_RDWR))
    }
  }
}
