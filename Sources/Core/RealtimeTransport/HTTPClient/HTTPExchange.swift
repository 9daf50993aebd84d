internal import NIOCore
internal import NIOHTTP1

/// One plain HTTP request and its answer.
///
/// State: waiting → connecting → receiving → done; each of them may jump to done. `phase`, `channel`
/// and `deadline` are touched on the event loop only. The promise is kept when it is done.
final class HTTPExchange: Sendable {
  typealias Outcome = Result<HTTPClientAnswer, HTTPClientError>

  private struct State {
    var isDone = false
    var channel: (any Channel)?
    var deadline: Scheduled<Void>?
  }

  private let request: HTTPClientRequest
  private let trust: TrustRoots
  private let timeout: TimeAmount
  private let bodyBytes: Int
  private let eventLoop: any EventLoop
  private let state: NIOLoopBoundBox<State>
  private let outcome: EventLoopPromise<Outcome>

  init(
    request: HTTPClientRequest,
    trust: TrustRoots,
    timeout: TimeAmount,
    bodyBytes: Int,
    eventLoop: any EventLoop
  ) {
    self.request = request
    self.trust = trust
    self.timeout = timeout
    self.bodyBytes = bodyBytes
    self.eventLoop = eventLoop
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
    outcome = eventLoop.makePromise()
  }

  /// Sends the request and waits for the end.
  func result() async -> Outcome {
    eventLoop.execute { self.begin() }
    do {
      return try await outcome.futureResult.get()
    } catch {
      return .failure(HTTPClientError(.lost, "\(request.target): \(FailureText.describe(error))"))
    }
  }

  /// Gives up; the result is a failure of kind `cancelled`.
  func cancel() {
    eventLoop.execute { self.fail(.cancelled, "was asked for something, but nobody waits for it") }
  }

  private func begin() {
    guard !state.value.isDone else { return }
    state.value.deadline = eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      self.fail(.timedOut, "did not answer in time")
    }
    request.target.connect(on: eventLoop, trust: trust, timeout: timeout) { channel in
      try self.configure(channel)
    }.hop(to: eventLoop).assumeIsolated().whenComplete { result in
      switch result {
      case .success(let channel): self.send(over: channel)
      case .failure(let error): self.cannotConnect(error)
      }
    }
  }

  private func configure(_ channel: any Channel) throws {
    state.value.channel = channel
    let handler = HTTPAnswerHandler(
      bodyBytes: bodyBytes,
      onAnswer: { self.finish(.success($0)) },
      onFailure: { kind, what in
        // A host may have several addresses, of which one that answers too late is given up.
        if self.state.value.channel === channel { self.fail(kind, what) }
      }
    )
    let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)
    try channel.pipeline.syncOperations.addHandlers(
      HTTPRequestEncoder(),
      ByteToMessageHandler(decoder),
      NIOHTTPRequestHeadersValidator(),
      handler
    )
  }

  private func send(over channel: any Channel) {
    guard !state.value.isDone else { return channel.close(promise: nil) }
    state.value.channel = channel
    var headers = HTTPHeaders(request.headerLines.map { ($0.name, $0.value) })
    headers.replaceOrAdd(name: "Host", value: request.target.host)
    headers.replaceOrAdd(name: "Connection", value: "close")
    if !request.body.isEmpty || !["GET", "HEAD", "DELETE"].contains(request.method) {
      headers.replaceOrAdd(name: "Content-Length", value: "\(request.body.count)")
    }
    let head = HTTPRequestHead(
      version: .http1_1,
      method: HTTPMethod(rawValue: request.method),
      uri: request.path,
      headers: headers
    )
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    if !request.body.isEmpty {
      let body = ByteBuffer(bytes: request.body)
      channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
    }
    // What fails here reaches the handler as the end of the channel, with its reason.
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
  }

  // MARK: Ending

  private func cannotConnect(_ error: any Error) {
    switch error {
    case let error as TLSFailure: finish(.failure(failure(.insecure(error.kind), ": \(error)")))
    case is HTTPClientError: break
    default:
      finish(
        .failure(
          failure(
            ConnectFailure(error).kind,
            " cannot be reached: \(FailureText.describe(error))"
          )
        )
      )
    }
  }

  private func fail(_ kind: HTTPClientError.Kind, _ what: String) {
    if case .insecure = kind {
      finish(.failure(failure(kind, ": \(what)")))
    } else {
      finish(.failure(failure(kind, " \(what)")))
    }
  }

  private func failure(_ kind: HTTPClientError.Kind, _ what: String) -> HTTPClientError {
    HTTPClientError(kind, "\(request.target)\(what)")
  }

  private func finish(_ result: Outcome) {
    guard !state.value.isDone else { return }
    let channel = state.value.channel
    state.value.deadline?.cancel()
    state.value = State(isDone: true)
    outcome.succeed(result)
    channel?.close(promise: nil)
  }
}
