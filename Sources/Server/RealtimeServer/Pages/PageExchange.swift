internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Makes one page, as a peer of the hub that has not signed in.
///
/// State: waiting for its turn, or for memory → asking (answers of the hub are awaited) → asking
/// again, depending on the answers → rendering (off the event loop) → answered. Confined to the
/// server's event loop.
final class PageExchange: InternalPeer, Schedulable {
  /// The maximum number of steps for one page.
  private static let stepLimit = 4

  let account: SchedulerAccount
  var isWaiting = false
  private let request: HTTPRequest
  private let core: DatabaseCore
  private let versions: PageVersions
  private let promise: EventLoopPromise<HTTPReply>
  private var peer: PeerID?
  private var steps = 0
  /// The reads to make once its turn has come.
  private var reads: [PageRead] = []
  /// Continues with the answers.
  private var next: (@Sendable ([PageData]) -> PageStep)?
  private var answers: [PageData?] = []
  /// The answers of all steps so far.
  private var data: [PageData] = []
  /// The number of the request before the first of this step.
  private var base: Int64 = 0
  /// Whether it is waiting for its turn or for memory, so that nothing is lost by giving it up.
  private var isPending = false

  private init(_ request: HTTPRequest, on core: DatabaseCore, versions: PageVersions) {
    self.request = request
    self.core = core
    self.versions = versions
    promise = core.eventLoop.makePromise()
    account = core.context.account(of: request.connection)
  }

  /// Makes a page; the server keeps the exchange alive until it is answered.
  static func run(
    _ request: HTTPRequest,
    from pages: any PageSource,
    on core: DatabaseCore,
    versions: PageVersions
  ) -> EventLoopFuture<HTTPReply> {
    // What is no text is the name of no page, which the pages say in their own way.
    let segments = request.path.split(separator: "/").map {
      PercentEncoding.decode($0) ?? String($0)
    }
    let exchange = PageExchange(request, on: core, versions: versions)
    exchange.peer = core.openInternal(exchange)
    exchange.follow(
      pages.page(for: PageRequest(segments: segments, parameters: request.parameters))
    )
    return exchange.promise.futureResult
  }

  // MARK: Steps

  private func follow(_ step: PageStep) {
    switch step {
    case .read(let reads, let next): read(reads, then: next)
    case .render(let render): self.render(render)
    }
  }

  private func read(_ reads: [PageRead], then next: @escaping @Sendable ([PageData]) -> PageStep) {
    steps += 1
    guard steps <= Self.stepLimit, reads.count <= PageRead.limit else {
      return finish(RESTError(500, reason: "the page reads too much data").answer)
    }
    guard !reads.isEmpty else { return follow(next([])) }
    self.reads = reads
    self.next = next
    isPending = true
    readWhenPossible()
  }

  /// Requests a turn as soon as unread output leaves enough memory.
  private func readWhenPossible() {
    guard peer != nil, !giveUp() else { return }
    let isHeldBack = reads.contains { core.mustWait(toRead: $0.path, isBehind: false) }
    guard !isHeldBack else {
      return core.context.memory.whenRelieved { [weak self] in self?.readWhenPossible() }
    }
    core.context.scheduler.request(by: self)
  }

  var isReady: Bool { isPending && peer != nil }

  func takeTurn() {
    guard isPending, !giveUp() else { return }
    isPending = false
    answers = Array(repeating: nil, count: reads.count)
    let first = base
    for (index, read) in reads.enumerated() {
      guard let peer else { return }
      core.hand(
        .request(id: first + Int64(index), .get(path: read.path, query: read.query)),
        from: peer
      )
    }
  }

  /// Ends the exchange if its reader has left; returns whether it has.
  private func giveUp() -> Bool {
    guard request.reader?.isGone == true else { return false }
    finish(RESTError.clientHasLeft.answer)
    return true
  }

  private func render(_ make: @escaping @Sendable () -> Page) {
    let address = request.target
    if let kept = versions.page(at: address, of: data) { return answer(with: kept) }
    let limit = core.options.limits.responseBytes
    core.context.workers.perform(
      for: account,
      isLong: false,
      mayBegin: { [memory = core.context.memory] in !memory.isExhausted(isWaiting: false) },
      isGivenUp: { [self] in giveUp() },
      { RenderedPage(make()) },
      then: { [self] rendered in
        guard rendered.page.body.count <= limit else {
          return finish(RESTError.answerTooBig.answer)
        }
        versions.keep(rendered, at: address, of: data)
        answer(with: rendered)
      }
    )
  }

  private func answer(with page: RenderedPage) {
    finish(page.answer(to: request, at: core.context.clock(), versions: versions))
  }

  private func finish(_ answer: HTTPAnswer) {
    guard let peer else { return }
    self.peer = nil
    next = nil
    promise.succeed(.answer(answer))
    core.closeInternal(peer)
  }

  // MARK: Peer

  func receive(_ message: ServerMessage) {
    guard case .response(let id, let response) = message,
      let index = Int(exactly: id - base), answers.indices.contains(index)
    else { return }
    answers[index] = PageData(response)
    let known = answers.compactMap(\.self)
    guard known.count == answers.count, let next else { return }
    base += Int64(answers.count)
    answers = []
    data += known
    self.next = nil
    follow(next(known))
  }

  func disconnect(_ reason: DisconnectReason) {
    finish(RESTError(503, reason: "\(reason)").answer)
  }

  func serverStops() {
    if isPending { finish(RESTError(503, reason: "the server is stopping").answer) }
  }
}

extension PageData {
  /// The result of a read, from the hub's answer.
  fileprivate init(_ response: ServerMessage.Response) {
    switch (response.status, response.payload) {
    case (.ok, .node(let node)): self = .found(node)
    case (.ok, .json): self = .found(.empty)
    case (.permissionDenied, _): self = .denied
    default: self = .failed(RESTError(response).reason)
    }
  }
}

extension ServerOptions {
  /// The source of the page at a path, still escaped; nil if there is no page.
  func pages(at path: String) -> (any PageSource)? {
    guard let pages, !path.hasSuffix(".json"), pages.owns(path) else { return nil }
    return pages
  }
}
