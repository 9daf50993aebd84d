private import Glibc
internal import RealtimeCore
internal import RealtimeTransport

/// What two servers send each other about a client of one and a database of the other.
///
/// A link carries messages as any connection does. Each begins with a letter for its kind, the
/// number of the exchange that it belongs to, and a colon. An exchange is a client's connection or
/// an HTTP request; the server that the client has reached numbers it.
struct LinkFrame {
  /// What a frame says; the letters are those on the wire.
  enum Kind: UInt8 {
    /// A client has connected: the head of its request.
    case session = 0x73  // s
    /// A client has sent an HTTP request: its head, which is followed by its body as a message.
    case request = 0x72  // r
    /// A client has connected whose reads the first server answers: the head of its request.
    case submission = 0x75  // u
    /// The first server wants to follow a database: its name.
    case follow = 0x66  // f
    /// The first server wants to answer the reads of a connected client from now on; in return,
    /// what the client has open, or nothing if that is impossible.
    case takeOver = 0x6F  // o
    /// The head of the answer to a request, which is followed by its body as a message.
    case answer = 0x61  // a
    /// The head of an answer whose body is streamed, as any number of messages.
    case stream = 0x74  // t
    /// A message, or the last piece of one.
    case message = 0x6D  // m
    /// A piece of a message that continues.
    case piece = 0x70  // p
    /// The next messages of the link belong, unchanged, to the exchange: their number, and the
    /// numbers of other exchanges that they also belong to.
    case whole = 0x77  // w
    /// Stop sending for now.
    case hold = 0x68  // h
    /// Continue sending.
    case resume = 0x67  // g
    /// The limits for the client's messages.
    case limits = 0x6C  // l
    /// The number of a request that was too long and has been skipped.
    case excess = 0x78  // x
    /// The exchange is over: the code of the WebSocket's close, and the reason.
    case end = 0x65  // e
    /// The database of the exchange is not led here, and nothing was carried out.
    case elsewhere = 0x76  // v
    /// The first server serves the client in another way, or will: the client's scheduled
    /// disconnect writes wait.
    case part = 0x64  // d
    /// All clients of a database that the first server still has are here: its name. The exchange
    /// ends normally if the database is led here.
    case settled = 0x7A  // z
    /// A sign of life.
    case beat = 0x62  // b
  }

  /// The longest payload of a frame, in bytes: longer messages are sent in pieces, so that others
  /// get their turn in between.
  static let pieceBytes = 256 * 1_024

  /// The most exchanges that share messages.
  static let mostSharing = 4_096

  let kind: Kind
  /// The exchange; 0 for the link itself.
  let exchange: Int
  let payload: ArraySlice<UInt8>

  /// Parses a message of a link; nil if it is none.
  init?(_ bytes: [UInt8]) {
    guard let first = bytes.first, let kind = Kind(rawValue: first) else { return nil }
    var number = 0
    var index = 1
    while index < bytes.count, (0x30...0x39).contains(bytes[index]), index <= 18 {
      number = number * 10 + Int(bytes[index] - 0x30)
      index += 1
    }
    guard index > 1, index < bytes.count, bytes[index] == 0x3A else { return nil }
    self.kind = kind
    exchange = number
    payload = bytes[(index + 1)...]
  }

  static func bytes(
    _ kind: Kind,
    _ exchange: Int,
    _ payload: some Collection<UInt8> = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(payload.count + 12)
    bytes.append(kind.rawValue)
    bytes.append(contentsOf: "\(exchange):".utf8)
    bytes.append(contentsOf: payload)
    return bytes
  }

  /// The messages that follow a frame of the kind ``Kind/whole``; nil if it does not say.
  var following: (count: Int, exchanges: [Int])? {
    var numbers: [Int] = []
    for word in payload.split(separator: 0x20) {
      guard let number = Int(String(decoding: word, as: UTF8.self)) else { return nil }
      numbers.append(number)
    }
    guard let count = numbers.first, count > 0 else { return nil }
    return (count, [exchange] + numbers.dropFirst())
  }

  /// Encodes a frame of the kind ``Kind/whole``, for messages of at least one exchange.
  static func announcement(of count: Int, to exchanges: [Int]) -> [UInt8] {
    let payload = "\(count)" + exchanges.dropFirst().map { " \($0)" }.joined()
    return bytes(.whole, exchanges.first ?? 0, payload.utf8)
  }

  /// Encodes a message of an exchange, in as many frames as it takes.
  static func frames(of message: [UInt8], _ exchange: Int) -> [[UInt8]] {
    var frames: [[UInt8]] = []
    var start = 0
    while message.count - start > pieceBytes {
      frames.append(bytes(.piece, exchange, message[start..<(start + pieceBytes)]))
      start += pieceBytes
    }
    frames.append(bytes(.message, exchange, message[start...]))
    return frames
  }
}

/// A message that arrives in pieces.
struct LinkAssembler {
  private var pieces: [UInt8] = []

  /// Takes a frame; returns the message if it is complete.
  mutating func take(_ frame: LinkFrame) -> [UInt8]? {
    pieces.append(contentsOf: frame.payload)
    guard frame.kind == .message else { return nil }
    defer { pieces = [] }
    return pieces
  }
}

extension HTTPRequest {
  /// The head of a request for the server that leads its database.
  var linkHead: [UInt8] {
    let json = JSONValue.object(
      ("m", .string(method)),
      ("t", .string(target)),
      ("h", HTTPAnswer.HeaderLine.json(headerLines)),
      // A process that may use the private socket may do everything; see `DatabaseCore.identity`.
      ("p", peer.isLocal ? .null : .string(peer.description)),
      ("n", origin?.session.map { .string($0) } ?? .null),
      ("d", .bool(origin?.hasScheduled ?? false))
    )
    return Array(json.text.utf8)
  }

  /// Reads the head of a request that another server forwards; nil if it is none.
  ///
  /// A process on the other server's machine, which that server has checked, may do what this
  /// server may.
  init?(linkHead head: some Collection<UInt8>, body: [UInt8], from server: String) {
    guard let json = try? JSONParser.parse(Array(head)), let method = json["m"]?.string,
      let target = json["t"]?.string, let lines = HTTPAnswer.HeaderLine.lines(json["h"]),
      let peer = json["p"]
    else { return nil }
    self.init(
      forwarded: method,
      target: target,
      headerLines: lines,
      body: body,
      peer: peer.string.map { .network(address: $0) } ?? .thisServer
    )
    origin = Origin(
      server: server,
      session: json["n"]?.string,
      hasScheduled: json["d"] == .bool(true)
    )
  }
}

extension Peer {
  fileprivate static var thisServer: Peer {
    .local(PeerCredentials(process: getpid(), user: geteuid(), group: getegid()))
  }
}

extension HTTPAnswer {
  /// The head of an answer for the server that the client has reached.
  var linkHead: [UInt8] {
    let json = JSONValue.object(
      ("s", .integer(Int64(status))),
      ("t", contentType.map { .string($0) } ?? .null),
      ("h", HeaderLine.json(headerLines))
    )
    return Array(json.text.utf8)
  }

  /// Reads the head of an answer that another server has given; nil if it is none.
  init?(linkHead head: some Collection<UInt8>) {
    guard let json = try? JSONParser.parse(Array(head)), let status = json["s"]?.integer,
      (100...599).contains(status), let lines = HeaderLine.lines(json["h"])
    else { return nil }
    self.init(
      status: Int(status),
      contentType: json["t"]?.string,
      headerLines: lines,
      body: []
    )
  }
}

extension HTTPAnswer.HeaderLine {
  fileprivate static func json(_ lines: [Self]) -> JSONValue {
    .array(lines.map { .array([.string($0.name), .string($0.value)]) })
  }

  fileprivate static func lines(_ json: JSONValue?) -> [Self]? {
    guard let elements = json?.elements else { return nil }
    let lines = elements.compactMap { line -> Self? in
      guard let pair = line.elements, pair.count == 2, let name = pair[0].string,
        let value = pair[1].string
      else { return nil }
      return Self(name, value)
    }
    return lines.count == elements.count ? lines : nil
  }
}
