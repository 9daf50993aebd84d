import Foundation

/// A proxy between clients and a server that delivers changes incorrectly.
///
/// It uses a thread for each direction of each connection, which copies data until one end is gone.
final class FaultyDelivery: Sendable {
  enum Fault {
    case loses
    case delays
    case reorders

    init?(_ mistake: Mistake) {
      switch mistake {
      case .lostPush: self = .loses
      case .latePush: self = .delays
      case .reorderedPush: self = .reorders
      case .earlyAcknowledgement, .splitUpdate, .doubleStar, .unaskedRules: return nil
      }
    }
  }

  /// No port is available.
  struct Problem: Error {}

  /// The environment variables that set one in how many pushes goes wrong, and which ones.
  static let (every, seed) = ("FAULTY_SERVER_EVERY", "FAULTY_SERVER_SEED")
  /// How many pushes overtake one: more than the number of listens that one commit affects.
  private static let distance = 4
  /// The delay of a late push, in seconds.
  private static let delay = 4.0

  /// The port for clients.
  let port: Int
  private let fault: Fault
  private let server: Int
  private let every: UInt64

  /// Listens on a port, or on any free port if it is 0, for clients of a server at another port.
  init(_ fault: Fault, from port: Int, to server: Int) throws {
    self.fault = fault
    self.server = server
    let environment = ProcessInfo.processInfo.environment
    every = environment[Self.every].flatMap { UInt64($0) } ?? 100
    let seed = environment[Self.seed].flatMap { UInt64($0) } ?? 1
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    guard Self.call(port, { bind(listener, $0, $1) }) == 0, listen(listener, 256) == 0 else {
      throw Problem()
    }
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    self.port = Int(UInt16(bigEndian: address.sin_port))
    signal(SIGPIPE, SIG_IGN)
    Thread.detachNewThread { [self] in
      var number = seed &* 7_919
      while true {
        let client = accept(listener, nil, nil)
        if client < 0 { continue }
        number += 1
        serve(client, number)
      }
    }
  }

  private static func call(
    _ port: Int,
    _ function: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        function($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private func serve(_ client: Int32, _ number: UInt64) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard Self.call(self.server, { connect(server, $0, $1) }) == 0 else {
      close(client)
      close(server)
      return
    }
    let group = DispatchGroup()
    group.enter()
    group.enter()
    Thread.detachNewThread {
      let input = ByteSource(client)
      while let bytes = input.some(), ByteSource.write(bytes, to: server) {}
      shutdown(server, Int32(SHUT_RDWR))
      group.leave()
    }
    Thread.detachNewThread { [self] in
      deliver(from: server, to: client, number)
      shutdown(client, Int32(SHUT_RDWR))
      group.leave()
    }
    group.notify(queue: .global()) {
      close(client)
      close(server)
    }
  }

  /// Forwards what the server sends: first the handshake response, then one frame at a time.
  private func deliver(from server: Int32, to client: Int32, _ number: UInt64) {
    let input = ByteSource(server)
    guard let head = input.head(), ByteSource.write(head, to: client) else { return }
    var state = number
    var held: (frame: [UInt8], left: Int)?
    while let frame = input.frame() {
      guard isPush(frame) else {
        guard ByteSource.write(frame, to: client) else { return }
        continue
      }
      if let late = held {
        held = late.left == 0 ? nil : (late.frame, late.left - 1)
        guard ByteSource.write(late.left == 0 ? frame + late.frame : frame, to: client) else {
          return
        }
        continue
      }
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      if (state >> 33) % every == 0 {
        switch fault {
        case .loses: continue
        case .delays: Thread.sleep(forTimeInterval: Self.delay)
        case .reorders:
          held = (frame, Self.distance)
          continue
        }
      }
      guard ByteSource.write(frame, to: client) else { return }
    }
  }

  /// Whether a frame contains changed data.
  private func isPush(_ frame: [UInt8]) -> Bool {
    let text = String(decoding: frame.prefix(48), as: UTF8.self)
    return text.contains(#""a":"d""#) || text.contains(#""a":"m""#)
  }
}

/// Reads from a socket; used by one thread.
private final class ByteSource {
  private let descriptor: Int32
  private var bytes: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// The next bytes, in any number; nil at the end.
  func some() -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &buffer, buffer.count)
    return count > 0 ? Array(buffer[..<count]) : nil
  }

  /// Everything up to and including an empty line; nil at the end.
  func head() -> [UInt8]? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if bytes.count >= 4 {
        for index in 0...(bytes.count - 4) where Array(bytes[index..<index + 4]) == end {
          return take(index + 4)
        }
      }
      guard let more = some() else { return nil }
      bytes += more
    }
  }

  /// One frame of a WebSocket server; nil at the end.
  func frame() -> [UInt8]? {
    guard fill(2) else { return nil }
    var (header, length) = (2, Int(bytes[1] & 0x7F))
    if length >= 126 {
      let size = length == 126 ? 2 : 8
      guard fill(2 + size) else { return nil }
      length = bytes[2..<2 + size].reduce(0) { $0 << 8 | Int($1) }
      header += size
    }
    return fill(header + length) ? take(header + length) : nil
  }

  private func fill(_ count: Int) -> Bool {
    while bytes.count < count {
      guard let more = some() else { return false }
      bytes += more
    }
    return true
  }

  private func take(_ count: Int) -> [UInt8] {
    defer { bytes.removeFirst(count) }
    return Array(bytes[..<count])
  }

  /// Writes everything, and returns whether that was possible.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}
