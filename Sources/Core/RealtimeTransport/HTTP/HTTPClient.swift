package import NIOCore
internal import NIOHTTP1

/// Sends plain HTTP requests, each over a connection of its own.
///
/// It does not follow redirects, so that no credential is sent to an unexpected host. Callers that
/// expect a redirect inspect the response.
package struct HTTPClient: Sendable {
  /// The longest response body that is accepted, in bytes.
  package var bodyBytes = 16 * 1_024 * 1_024

  /// Addresses to connect to in place of hosts, keyed by the value of the Host header.
  package var detours: [String: ConnectionTarget.Endpoint] = [:]

  fileprivate let timeout: TimeAmount
  private let group: any EventLoopGroup
  private let trust: TrustRoots

  /// Makes a client; a response may take so long, from the lookup of the host to its last byte.
  package init(group: any EventLoopGroup, trust: TrustRoots, timeout: Duration) {
    self.group = group
    self.trust = trust
    self.timeout = TimeAmount(timeout)
  }

  var eventLoop: any EventLoop { group.next() }

  /// Opens a connection over which a request is sent.
  ///
  /// - Returns: The channel.
  func connect(
    to target: ConnectionTarget,
    on eventLoop: any EventLoop,
    handler makeHandler: @escaping @Sendable (any Channel) -> any ChannelInboundHandler
  ) -> EventLoopFuture<any Channel> {
    var target = target
    target.detour = detours[target.host]
    return target.connect(on: eventLoop, trust: trust, timeout: timeout) { channel in
      try channel.pipeline.syncOperations.addHandlers(
        HTTPRequestEncoder(),
        ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)),
        NIOHTTPRequestHeadersValidator(),
        makeHandler(channel)
      )
    }
  }

  /// Sends a request and returns the response, whatever its status.
  ///
  /// - Throws: ``HTTPClientError``, of kind `cancelled` if the task is cancelled.
  package func send(
    _ request: HTTPClientRequest
  ) async throws(HTTPClientError) -> HTTPClientAnswer {
    let exchange = HTTPExchange(request, of: self)
    let result = await withTaskCancellationHandler {
      await exchange.result()
    } onCancel: {
      exchange.cancel()
    }
    return try result.get()
  }
}

/// One plain HTTP request and its response.
///
/// State: waiting → connecting → receiving → done; each state may jump to done. `state` is accessed
/// only on the event loop. The promise is fulfilled when the exchange is done.
final class HTTPExchange: Sendable {
  typealias Outcome = Result<HTTPClientAnswer, HTTPClientError>

  private struct State {
    var isDone = false
    var channel: (any Channel)?
    var deadline: Scheduled<Void>?
  }

  private let request: HTTPClientRequest
  private let client: HTTPClient
  private let eventLoop: any EventLoop
  private let state: NIOLoopBoundBox<State>
  private let outcome: EventLoopPromise<Outcome>

  init(_ request: HTTPClientRequest, of client: HTTPClient) {
    self.request = request
    self.client = client
    eventLoop = client.eventLoop
    state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
    outcome = eventLoop.makePromise()
  }

  /// Sends the request and waits for the outcome.
  func result() async -> Outcome {
    eventLoop.execute { self.begin() }
    do {
      return try await outcome.futureResult.get()
    } catch {
      return .failure(
        HTTPClientError(.lost, description: "\(request.target): \(FailureText.describe(error))")
      )
    }
  }

  /// Cancels the exchange, which fails with kind `cancelled` unless it is already done.
  func cancel() {
    eventLoop.execute {
      self.fail(.cancelled, because: "was sent a request that was canceled")
    }
  }

  private func begin() {
    guard !state.value.isDone else { return }
    let timeout = client.timeout
    state.value.deadline = eventLoop.assumeIsolated().scheduleTask(in: timeout) {
      self.fail(.timedOut, because: "did not answer in \(timeout.nanoseconds / 1_000_000_000) s")
    }
    client.connect(to: request.target, on: eventLoop) { channel in
      self.handler(for: channel)
    }.hop(to: eventLoop).assumeIsolated().whenComplete { result in
      switch result {
      case .success(let channel): self.send(over: channel)
      case .failure(let error): self.cannotConnect(error)
      }
    }
  }

  private func handler(for channel: any Channel) -> HTTPAnswerHandler {
    state.value.channel = channel
    return HTTPAnswerHandler(
      bodyBytes: client.bodyBytes,
      onAnswer: { self.finish(.success($0)) },
      onFailure: { kind, what in
        // If a host has several addresses, connections that open too late are abandoned.
        if self.state.value.channel === channel { self.fail(kind, because: what) }
      }
    )
  }

  private func send(over channel: any Channel) {
    guard !state.value.isDone else { return channel.close(promise: nil) }
    state.value.channel = channel
    var head = request.head
    head.headers.replaceOrAdd(name: "Connection", value: "close")
    if !request.body.isEmpty || !["GET", "HEAD", "DELETE"].contains(request.method) {
      head.headers.replaceOrAdd(name: "Content-Length", value: "\(request.body.count)")
    }
    channel.write(HTTPClientRequestPart.head(head), promise: nil)
    if !request.body.isEmpty {
      let body = ByteBuffer(bytes: request.body)
      channel.write(HTTPClientRequestPart.body(.byteBuffer(body)), promise: nil)
    }
    // A failure here reaches the handler as an error of the channel.
    channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
  }

  // MARK: Ending

  private func cannotConnect(_ error: any Error) {
    if let error = error as? TLSFailure {
      return fail(.insecure(error.kind), because: error.description)
    }
    let end = ConnectionEnd(.unreachable, of: request.target, because: FailureText.describe(error))
    let kind = HTTPClientError.Kind(connecting: error)
    finish(.failure(HTTPClientError(kind, description: end.description)))
  }

  private func fail(_ kind: HTTPClientError.Kind, because what: String) {
    let separator = if case .insecure = kind { ": " } else { " " }
    let description = "\(request.target)\(separator)\(what)"
    finish(.failure(HTTPClientError(kind, description: description)))
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

private final class HTTPAnswerHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart

  private let bodyBytes: Int
  private let onAnswer: (HTTPClientAnswer) -> Void
  private let onFailure: (HTTPClientError.Kind, String) -> Void
  private var answer: HTTPClientAnswer?

  /// Makes a handler, whose closures must ignore every call after the first one.
  ///
  /// The reason for a failure is worded to follow the name of the server.
  init(
    bodyBytes: Int,
    onAnswer: @escaping (HTTPClientAnswer) -> Void,
    onFailure: @escaping (HTTPClientError.Kind, String) -> Void
  ) {
    self.bodyBytes = bodyBytes
    self.onAnswer = onAnswer
    self.onFailure = onFailure
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch Self.unwrapInboundIn(data) {
    case .head(let head):
      answer = HTTPClientAnswer(
        status: Int(head.status.code),
        headerLines: head.headers.map { HTTPAnswer.HeaderLine($0.name, $0.value) }
      )
    case .body(let bytes):
      let count = (answer?.body.count ?? 0) + bytes.readableBytes
      guard count <= bodyBytes else {
        return onFailure(.tooLarge, "answered with more than \(bodyBytes) bytes")
      }
      answer?.body.append(contentsOf: bytes.readableBytesView)
    case .end: if let answer { onAnswer(answer) }
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case let error as TLSFailure: onFailure(.insecure(error.kind), error.description)
    case HTTPParserError.invalidEOFState: onFailure(.lost, "broke off during its response")
    case is HTTPParserError: onFailure(.notHTTP, "does not speak HTTP (\(error))")
    default: onFailure(.lost, "broke off the connection: \(FailureText.describe(error))")
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    onFailure(.lost, "closed the connection before its answer was complete")
    context.fireChannelInactive()
  }
}
