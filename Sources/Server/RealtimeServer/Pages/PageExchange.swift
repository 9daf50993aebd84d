internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// Makes one page, as a peer of the hub that has not signed in.
///
/// State: waiting for its turn, or for memory → asking (answers of the hub are awaited) → asking
/// again, depending on the answers → rendering (off the event loop) → answered. Confined to the
/// server's event loop.
struct PageExchange {
  /// The maximum number of steps for one page.
  private static let stepLimit = 4

  private let request: HTTPRequest
  private let peer: RequestPeer
  private let versions: PageVersions
  private var core: DatabaseCore { peer.core }

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
    let asked = PageRequest(segments: segments, parameters: request.parameters)
    let peer = RequestPeer(on: core, over: request.connection) { request.reader?.isGone == true }
    return peer.open { _ in
      PageExchange(request: request, peer: peer, versions: versions)
        .follow(pages.page(for: asked), after: [])
    }
  }

  /// Follows a step after others, each with the data that it has read.
  private func follow(_ step: PageStep, after steps: [[PageData]]) {
    switch step {
    case .read(let reads, let next):
      guard steps.count < Self.stepLimit, reads.count <= PageRead.limit else {
        return peer.finish(RESTError(500, reason: "the page reads too much data").answer)
      }
      read(reads) { follow(next($0), after: steps + [$0]) }
    case .render(let make): render(make, from: steps.flatMap(\.self))
    }
  }

  private func read(_ reads: [PageRead], then next: @escaping ([PageData]) -> Void) {
    guard !reads.isEmpty else { return next([]) }
    peer.whenPossible(toRead: reads.map(\.path)) {
      peer.isPending = true
      peer.whenItIsTurn {
        peer.isPending = false
        peer.ask(reads.map { .get(path: $0.path, query: $0.query) }) { responses in
          next(responses.map { PageData($0) })
        }
      }
    }
  }

  private func render(_ make: @escaping @Sendable () -> Page, from data: [PageData]) {
    let address = request.target
    if let kept = versions.page(at: address, of: data) { return answer(with: kept) }
    let limit = core.options.limits.responseBytes
    core.context.workers.perform(
      for: peer.account,
      isLong: false,
      mayBegin: { [memory = core.context.memory] in !memory.isExhausted(isWaiting: false) },
      isGivenUp: { peer.giveUp() },
      { RenderedPage(make()) },
      then: { rendered in
        guard rendered.page.body.count <= limit else {
          return peer.finish(RESTError.answerTooBig.answer)
        }
        versions.keep(rendered, at: address, of: data)
        answer(with: rendered)
      }
    )
  }

  private func answer(with page: RenderedPage) {
    peer.finish(page.answer(to: request, at: core.context.clock(), versions: versions))
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
