internal import NIOCore
internal import RealtimeCore

/// The conversation with one long-polling client, as a value.
///
/// The client's messages arrive as numbered pieces in numbered requests, which may overtake each
/// other; the server's leave as numbered lists, one in each answer. State: open → closing (what
/// waits still leaves, then the command to close) → closed. What arrives is turned into outputs;
/// sockets, clocks and chance stay outside.
struct PollingSession {
  /// Identifies a request that waits for its answer.
  typealias Token = Int

  /// What the owner must do, in this order.
  enum Output: Equatable {
    case answer(Token, [UInt8])
    case message([UInt8])
    /// Answer a request of a message that was too long and has been skipped.
    case excess(Int64)
    /// Find memory for a message of this many bytes, then call ``memoryGranted(at:)``.
    case wants(bytes: Int)
    /// End the session, because the client breaks the protocol.
    case violation(String)
    /// The client has been told to close.
    case closed
  }

  /// The most pieces that wait for an earlier one, and how far ahead they may be.
  private static let mostEarly = 512
  /// The most text that they may have, in bytes.
  private static let earlyBytes = 64 * 1_024
  /// How far a request's number may be from the highest one.
  private static let serialDistance = 64
  /// The most requests that wait for an answer.
  private static let mostOpen = 2
  /// The size from which a list takes no further message, in bytes.
  private static let listBytes = 1_024 * 1_024
  /// The longest answer that is kept, in case its request is repeated.
  private static let keptBytes = 16 * 1_024

  private typealias OpenRequest = (token: Token, serial: Int)

  /// A message of which not all pieces have arrived.
  private struct Assembly {
    let total: Int
    var received = 0
    var decoder = Base64Decoder()
    var bytes: [UInt8] = []
    /// What is known of it, if it is too long.
    var excess: ExcessMessage?
  }

  private enum Phase {
    case open
    case closing
    case closed
  }

  /// The longest message that is accepted, in bytes.
  var messageBytes = 0
  /// Whether the client may take as long as it likes for a message, if it makes progress.
  var isPatient = false
  /// The part of a message that needs no promise of memory, in bytes.
  private let share: Int
  private var phase = Phase.open
  private var open: [OpenRequest] = []
  /// The last answers, in case their requests are repeated.
  private var answered: [(serial: Int, script: [UInt8])] = []
  private var highestSerial: Int?
  private var nextPiece = 0
  private var early: [Int: PollRequest.Piece] = [:]
  private var earlyTextBytes = 0
  private var assembly: Assembly?
  /// The memory that was found for the message.
  private var granted = 0
  private var waitsForMemory = false
  /// Whether the owner wants no messages for now.
  private(set) var isPaused = false
  private var queue = CircularBuffer<[UInt8]>(initialCapacity: 1)
  private var nextList = 0

  /// The bytes that wait for a request to take them.
  private(set) var queuedBytes = 0
  /// Since when a piece or a message has waited for its remainder; nil if none does.
  private(set) var unfinishedSince: NIODeadline?

  init(share: Int) {
    self.share = share
  }

  /// Whether a request waits for its answer.
  var isAwaited: Bool { !open.isEmpty }

  /// Whether the client has been told to close.
  var isClosed: Bool { phase == .closed }

  // MARK: Sending

  /// Adds a message to what waits; ``flush()`` sends it.
  mutating func send(_ message: [UInt8]) {
    guard case .open = phase else { return }
    queue.append(message)
    queuedBytes += message.count
  }

  /// The answer to the request that began the session.
  mutating func start(
    callback: String,
    id: String,
    password: String
  ) -> (script: [UInt8], isClosed: Bool) {
    var script = PollScript()
    script.start(callback: callback, id: id, password: password)
    script.list(nextList, takeList())
    nextList += 1
    closeIfDone(&script)
    if isClosed { script.close() }
    return (script.bytes, isClosed)
  }

  /// Sends what waits, as far as requests wait for it.
  mutating func flush() -> [Output] {
    var outputs: [Output] = []
    while let request = open.first, !queue.isEmpty || phase == .closing {
      outputs += answer(request)
    }
    return outputs
  }

  /// Tells the client to close once it has received what waits.
  mutating func close() -> [Output] {
    guard case .open = phase else { return [] }
    phase = .closing
    return flush()
  }

  /// Answers all requests with the command to close.
  mutating func abort() -> [Output] {
    phase = .closed
    queue.removeAll()
    queuedBytes = 0
    (early, assembly, unfinishedSince) = ([:], nil, nil)
    defer { open = [] }
    return open.map { .answer($0.token, Self.closed) }
  }

  /// Answers a request that has waited long enough.
  mutating func expire(_ token: Token) -> [Output] {
    guard let request = open.first(where: { $0.token == token }) else { return [] }
    return answer(request)
  }

  /// The command to close, for sessions that are unknown.
  static var closed: [UInt8] {
    var script = PollScript()
    script.close()
    return script.bytes
  }

  private mutating func answer(_ request: OpenRequest) -> [Output] {
    open.removeAll { $0.token == request.token }
    var script = PollScript()
    script.list(nextList, takeList())
    nextList += 1
    closeIfDone(&script)
    if answered.count == Self.mostOpen { answered.removeFirst() }
    if script.bytes.count <= Self.keptBytes { answered.append((request.serial, script.bytes)) }
    var outputs = [Output.answer(request.token, script.bytes)]
    if isClosed {
      outputs += open.map { .answer($0.token, Self.closed) }
      open = []
      outputs.append(.closed)
    }
    return outputs
  }

  private mutating func takeList() -> [[UInt8]] {
    var list: [[UInt8]] = []
    var bytes = 0
    while bytes < Self.listBytes, let message = queue.popFirst() {
      list.append(message)
      bytes += message.count
    }
    queuedBytes -= bytes
    return list
  }

  private mutating func closeIfDone(_ script: inout PollScript) {
    guard case .closing = phase, queue.isEmpty else { return }
    phase = .closed
    // The list that begins a session has the number 0, after which the client cannot close.
    if nextList > 1 { script.close(after: nextList - 1) }
  }

  // MARK: Receiving

  /// Receives a request, which waits for its answer from now on.
  mutating func receive(
    _ token: Token,
    serial: Int,
    pieces: [PollRequest.Piece],
    at now: NIODeadline
  ) -> [Output] {
    guard !isClosed else { return [.answer(token, Self.closed)] }
    // A browser repeats a request whose connection broke; its answer may be lost.
    if let known = answered.first(where: { $0.serial == serial }) {
      return [.answer(token, known.script)]
    }
    var outputs: [Output] = []
    if let index = open.firstIndex(where: { $0.serial == serial }) {
      outputs.append(.answer(open[index].token, []))
      open[index] = (token, serial)
    } else {
      let highest = highestSerial ?? serial
      open.append((token, serial))
      guard abs(serial - highest) <= Self.serialDistance else {
        return [.violation("sent a request whose number is out of order")]
      }
      highestSerial = max(highest, serial)
      open.sort { $0.serial < $1.serial }
    }
    for piece in pieces {
      if let reason = add(piece) { return outputs + [.violation(reason)] }
    }
    outputs += takePieces(at: now)
    outputs += settle()
    return outputs
  }

  /// Stops or resumes the delivery of messages.
  mutating func setPaused(_ isPaused: Bool, at now: NIODeadline) -> [Output] {
    self.isPaused = isPaused
    return isPaused ? [] : takePieces(at: now) + settle()
  }

  /// Goes on with a message, for which there is memory now.
  mutating func memoryGranted(at now: NIODeadline) -> [Output] {
    waitsForMemory = false
    return takePieces(at: now) + settle()
  }

  /// Answers the older of two requests, unless the client is to wait with what it has to say.
  private mutating func settle() -> [Output] {
    var outputs: [Output] = []
    while open.count > Self.mostOpen || open.count == Self.mostOpen && !isPaused && !waitsForMemory,
      let oldest = open.first
    {
      outputs += answer(oldest)
    }
    return outputs
  }

  /// Keeps a piece until its turn.
  ///
  /// - Returns: Why it is refused, or nil.
  private mutating func add(_ piece: PollRequest.Piece) -> String? {
    guard piece.number >= nextPiece, early[piece.number] == nil else { return nil }
    guard piece.number - nextPiece < 2 * Self.mostEarly, early.count < Self.mostEarly,
      earlyTextBytes + piece.text.utf8.count <= Self.earlyBytes
    else { return "sent too many pieces of messages out of order" }
    early[piece.number] = piece
    earlyTextBytes += piece.text.utf8.count
    return nil
  }

  private mutating func takePieces(at now: NIODeadline) -> [Output] {
    var outputs: [Output] = []
    let first = nextPiece
    while !isPaused, !waitsForMemory, let piece = early[nextPiece] {
      if let bytes = neededMemory(for: piece) {
        waitsForMemory = true
        outputs.append(.wants(bytes: bytes))
        break
      }
      early[nextPiece] = nil
      earlyTextBytes -= piece.text.utf8.count
      nextPiece += 1
      guard let output = take(piece) else { continue }
      outputs.append(output)
      if case .violation = output { return outputs }
    }
    if assembly == nil, early.isEmpty {
      unfinishedSince = nil
    } else if unfinishedSince == nil || isPatient && nextPiece > first || isPaused || waitsForMemory
    {
      unfinishedSince = now
    }
    return outputs
  }

  /// The memory to be found before a piece is added to its message; nil if there is enough.
  private func neededMemory(for piece: PollRequest.Piece) -> Int? {
    guard assembly?.excess == nil else { return nil }
    let size = piece.text.utf8.count / 4 * 3 + 3
    let (estimate, isOverflow) = size.multipliedReportingOverflow(by: piece.total)
    let expected = min(messageBytes, assembly == nil ? (isOverflow ? .max : estimate) : 0)
    let bytes = max(expected, min(messageBytes, (assembly?.bytes.count ?? 0) + size))
    guard bytes > max(share, granted) else { return nil }
    // What grows beyond what was announced may need all.
    return assembly == nil ? bytes : messageBytes
  }

  /// Records for how much memory the owner has been asked.
  mutating func memoryFound(_ bytes: Int) {
    granted = bytes
  }

  private mutating func take(_ piece: PollRequest.Piece) -> Output? {
    var assembly = self.assembly ?? Assembly(total: piece.total)
    self.assembly = nil
    guard assembly.total == piece.total else {
      return .violation("sent pieces of different messages as one")
    }
    guard assembly.decoder.decode(piece.text, into: &assembly.bytes) else {
      return .violation("sent a piece of a message that is not base64")
    }
    assembly.received += 1
    if assembly.excess == nil, assembly.bytes.count > messageBytes {
      assembly.excess = ExcessMessage(framesToCome: 1, reason: "the message is too long")
    }
    if assembly.excess != nil {
      assembly.excess?.pass(assembly.bytes)
      assembly.bytes = []
    }
    guard assembly.received == assembly.total else {
      self.assembly = assembly
      return nil
    }
    granted = 0
    guard let excess = assembly.excess else { return .message(assembly.bytes) }
    return excess.skimmer.requestID.map { .excess($0) }
      ?? .violation("sent a message that is too long")
  }
}
