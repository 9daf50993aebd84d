internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// A request over HTTP as a peer of the hub, so that it takes its place in the common order.
///
/// State: open (it waits for its turn, for memory or for the hub) → answered. Until then, the
/// database keeps it, and it keeps what comes next. Confined to the server's event loop.
final class RequestPeer: InternalPeer, Schedulable {
  let core: DatabaseCore
  let account: SchedulerAccount
  var isWaiting = false
  /// Its identifier in the hub; nil once it is answered.
  private(set) var id: PeerID?
  /// Whether it may be refused when the server stops, since nothing of it has begun.
  var isPending = false
  /// What is cancelled by the answer.
  var timers: [Scheduled<Void>] = []
  private let promise: EventLoopPromise<HTTPReply>
  /// Why it is refused when the server stops.
  private let stopReason: String
  /// Whether nobody waits for the answer any more.
  private let isGivenUp: () -> Bool
  /// The work to do when its turn comes.
  private var work: (() -> Void)?
  /// Receives the answers of the hub once all of them are there.
  private var next: (([ServerMessage.Response]) -> Void)?
  private var responses: [ServerMessage.Response?] = []
  /// The number of the first request to the hub that is not answered.
  private var first: Int64 = 1

  /// Makes a peer that is not open yet; the account of the connection is charged.
  init(
    on core: DatabaseCore,
    over connection: HTTPRequest.Connection? = nil,
    stopReason: String = "the server is stopping",
    isGivenUp: @escaping () -> Bool = { false }
  ) {
    self.core = core
    self.stopReason = stopReason
    self.isGivenUp = isGivenUp
    promise = core.eventLoop.makePromise()
    account = core.context.account(of: connection)
  }

  /// Opens it, begins what it is to do, and returns its reply.
  ///
  /// Without a credential, it is one that has not signed in.
  func open(
    for credential: RESTCredential? = nil,
    then begin: (PeerID) -> Void
  ) -> EventLoopFuture<HTTPReply> {
    do throws(RESTError) {
      let id =
        if let credential {
          try core.openInternal(self, for: credential)
        } else {
          core.openInternal(self)
        }
      self.id = id
      begin(id)
    } catch {
      promise.fail(error)
    }
    return promise.futureResult
  }

  /// Answers the request; a second answer is ignored.
  func finish(_ answer: HTTPAnswer) {
    guard let id else { return }
    self.id = nil
    (work, next) = (nil, nil)
    for timer in timers { timer.cancel() }
    promise.succeed(.answer(answer))
    core.closeInternal(id)
  }

  /// Ends the request if nobody waits for its answer; returns whether that is so.
  func giveUp() -> Bool {
    guard isGivenUp() else { return false }
    finish(RESTError.clientHasLeft.answer)
    return true
  }

  // MARK: Waiting

  var isReady: Bool { work != nil && id != nil }

  func takeTurn() {
    let work = work.take()
    if !giveUp() { work?() }
  }

  func whenItIsTurn(_ work: @escaping () -> Void) {
    self.work = work
    core.context.scheduler.request(by: self)
  }

  /// Continues as soon as unread output leaves enough memory for the data at some paths.
  func whenPossible(toRead paths: [Path], _ next: @escaping () -> Void) {
    guard id != nil, !giveUp() else { return }
    isPending = paths.contains { core.mustWait(toRead: $0, isBehind: false) }
    guard isPending else { return next() }
    core.context.memory.whenRelieved { [weak self] in self?.whenPossible(toRead: paths, next) }
  }

  // MARK: The hub

  /// Asks the hub several things at once, and continues with the answers in the same order.
  func ask(
    _ requests: [ClientRequest],
    then next: @escaping ([ServerMessage.Response]) -> Void
  ) {
    for (number, request) in zip(expect(requests.count, then: next)..., requests) {
      guard let id else { return }
      core.hand(.request(id: number, request), from: id)
    }
  }

  func ask(_ request: ClientRequest, then next: @escaping (ServerMessage.Response) -> Void) {
    ask([request]) { next($0[0]) }
  }

  /// Awaits the answers to requests, and returns the number of the first.
  func expect(
    _ count: Int = 1,
    then next: @escaping ([ServerMessage.Response]) -> Void
  ) -> Int64 {
    self.next = next
    responses = Array(repeating: nil, count: count)
    return first
  }

  func receive(_ message: ServerMessage) {
    guard case .response(let number, let response) = message,
      let index = Int(exactly: number - first), responses.indices.contains(index)
    else { return }
    responses[index] = response
    let known = responses.compactMap(\.self)
    guard known.count == responses.count else { return }
    first += Int64(known.count)
    responses = []
    next.take()?(known)
  }

  func disconnect(_ reason: DisconnectReason) {
    finish(RESTError(503, reason: "\(reason)").answer)
  }

  func serverStops() {
    if isPending { finish(RESTError(503, reason: stopReason).answer) }
  }
}
