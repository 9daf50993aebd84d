internal import RealtimeCore

/// What a client has sent to the leader of its database, as far as the next leader needs it to
/// continue.
///
/// That is the credential, the listens, and all unanswered requests. The next leader receives them
/// in this order: answered ones as renewals, whose answers the client never sees, and the others as
/// the client sent them, with the client's own numbers and keys.
///
/// A write without a key, as clients of other vendors send it, gets one: the last leader may have
/// stored it although its answer was lost, and the next one must not apply it again.
struct Conversation {
  /// How a request affects later ones.
  private enum Effect {
    case listens(ListenRequest)
    case endsListen(ListenKey)
    case signsIn(ClientRequest.Authentication)
    case signsOut
    case schedules
    case none
  }

  /// An unanswered request.
  private struct Request {
    /// How many requests came before it.
    let position: Int
    /// The bytes as they arrived; nil if there were too many to keep.
    let bytes: [UInt8]?
    let effect: Effect
  }

  private enum Renewal {
    case listen(ListenKey)
    case credential
  }

  enum Answer: Equatable {
    case passes
    case isDropped
    case isReplaced(by: ServerMessage)
  }

  private var credential: ClientRequest.Authentication?
  private var listens: [ListenKey: (position: Int, request: ListenRequest)] = [:]
  private var unanswered: [Int64: Request] = [:]
  private var renewals: [Int64: Renewal] = [:]
  private var count = 0
  /// The client in the keys that are given to writes here.
  ///
  /// It belongs to no user, since another one may have signed in before a write is sent again.
  private let writer = WriteKey.bearerName(Randomness.name(Session.nameLength))
  /// The number of bytes of the unanswered requests.
  private(set) var waitingBytes = 0
  /// Whether the client relies on writes that it has scheduled for its disconnection.
  private(set) var hasScheduled = false

  /// Whether a leader may have stored writes that the client has scheduled for its disconnection.
  var mayHaveScheduled: Bool {
    hasScheduled
      || unanswered.values.contains { if case .schedules = $0.effect { true } else { false } }
  }

  var awaitsAnswer: Bool { !unanswered.isEmpty || !renewals.isEmpty }

  var openListens: [ListenKey] { Array(listens.keys) }

  // MARK: The client

  /// Notes what the client has said, and gives a write without a key one.
  ///
  /// - Returns: Whether it is a request, which has to be answered.
  mutating func said(_ bytes: inout [UInt8]) -> Bool {
    let key = WriteKey(client: writer, number: Int64(count))
    guard let (id, action) = ClientMessage.outline(of: &bytes, naming: key) else { return false }
    add(Request(position: count, bytes: bytes, effect: effect(of: bytes, action)), as: id)
    return true
  }

  /// Records that a request was too long and was skipped.
  mutating func saidTooMuch(as id: Int64) {
    add(Request(position: count, bytes: nil, effect: .none), as: id)
  }

  private mutating func add(_ request: Request, as id: Int64) {
    count += 1
    waitingBytes += request.bytes?.count ?? 0
    let previous = unanswered.updateValue(request, forKey: id)
    waitingBytes -= previous?.bytes?.count ?? 0
  }

  /// The actions whose requests are decoded here; none of them carries data.
  private static let decoded: Set<String> = ["q", "n", "auth", "gauth", "unauth"]

  private func effect(of bytes: [UInt8], _ action: String) -> Effect {
    if action == "o" || action == "om" { return .schedules }
    guard Self.decoded.contains(action),
      case .request(_, let request)? = try? ClientMessage(decoding: bytes)
    else { return .none }
    switch request {
    case .listen(let listen): return .listens(listen)
    case .unlisten(let path, let query, _): return .endsListen(ListenKey(path, query: query))
    case .authenticate(let authentication): return .signsIn(authentication)
    case .unauthenticate: return .signsOut
    case .stats, .appCheck, .get, .write, .onDisconnect, .cancelOnDisconnect, .unknown:
      return .none
    }
  }

  // MARK: The leader

  /// Records the answer to a request; the whole message is only made if it matters.
  mutating func answered(_ id: Int64, _ message: () -> ServerMessage?) -> Answer {
    if let renewal = renewals.removeValue(forKey: id) { return renewed(renewal, message()) }
    guard let request = unanswered.removeValue(forKey: id) else { return .passes }
    waitingBytes -= request.bytes?.count ?? 0
    switch request.effect {
    case .none: return .passes
    case .endsListen(let key): listens[key] = nil
    case .signsOut: credential = nil
    case .schedules: if !Self.isRefusal(message()) { hasScheduled = true }
    case .listens(let listen):
      let key = ListenKey(listen.path, query: listen.query)
      listens[key] = Self.isRefusal(message()) ? nil : (request.position, listen)
    case .signsIn(let authentication):
      credential = Self.isRefusal(message()) ? nil : authentication
    }
    return .passes
  }

  /// Records that the leader has ended listens.
  mutating func revoked(_ message: ServerMessage?) {
    guard case .push(.listenRevoked(let path, let queries))? = message else { return }
    for query in queries ?? [.all] { listens[ListenKey(path, query: query)] = nil }
  }

  /// Records that the client's credential has ended.
  mutating func signedOut() { credential = nil }

  /// What the client receives instead of the answer to a renewal: only that something was refused.
  private mutating func renewed(_ renewal: Renewal, _ message: ServerMessage?) -> Answer {
    guard Self.isRefusal(message), case .response(_, let response)? = message else {
      return .isDropped
    }
    switch renewal {
    case .listen(let key):
      listens[key] = nil
      let queries = key.query.loadsAllData ? nil : [key.query]
      return .isReplaced(by: .push(.listenRevoked(path: key.path, queries: queries)))
    case .credential:
      credential = nil
      let reason = if case .json(.string(let text)) = response.payload { text } else { "" }
      return .isReplaced(by: .push(.authenticationRevoked(response.status, reason: reason)))
    }
  }

  private static func isRefusal(_ message: ServerMessage?) -> Bool {
    guard case .response(_, let response)? = message else { return false }
    return response.status != .ok
  }

  // MARK: The next leader

  /// A step to take with the next leader, in order.
  enum Step: Equatable {
    case message([UInt8])
    /// A request with this number was too long.
    case excess(Int64)
  }

  /// Begins the conversation with the next leader, and returns what to send first.
  ///
  /// The hash is that of the client's data for a listen; nil if it is unknown, so that all data is
  /// sent.
  mutating func resume(hash: (ListenKey) -> String?) -> [Step] {
    renewals = [:]
    var steps: [Step] = []
    func renew(_ request: ClientRequest) -> Int64 {
      let id = -1 - Int64(steps.count)
      steps.append(.message(ClientMessage.request(id: id, request).encoded()))
      return id
    }
    if let credential { renewals[renew(.authenticate(credential))] = .credential }
    for (key, listen) in listens.sorted(by: { $0.value.position < $1.value.position }) {
      var request = Self.withoutData(listen.request)
      if let hash = hash(key) { request.hash = hash }
      renewals[renew(.listen(request))] = .listen(key)
    }
    for (id, request) in unanswered.sorted(by: { $0.value.position < $1.value.position }) {
      guard let bytes = request.bytes else {
        steps.append(.excess(id))
        continue
      }
      if case .listens(let listen) = request.effect {
        // It may have been sent data since, although not the answer.
        let message = ClientMessage.request(id: id, .listen(Self.withoutData(listen)))
        steps.append(.message(message.encoded()))
      } else {
        steps.append(.message(bytes))
      }
    }
    return steps
  }

  /// A listen of a client with some data or none: what has been removed since must be sent, too.
  private static func withoutData(_ listen: ListenRequest) -> ListenRequest {
    ListenRequest(
      path: listen.path,
      query: listen.query,
      tag: listen.tag,
      hash: ListenRequest.unknownHash
    )
  }
}
