internal import NIOCore
internal import NIOHTTP1

extension HTTPClient {
  /// Opens a stream of events and gives them one by one, for as long as the server sends any.
  ///
  /// The timeout of the client is that of the connection; the stream itself has none. It ends when the
  /// server ends it, and the connection ends with the task that reads the stream.
  ///
  /// - Parameter request: The request; a line that asks for a stream is added.
  /// - Returns: The events; the sequence throws ``HTTPClientError`` when there is no stream.
  package func events(
    of request: HTTPClientRequest
  ) -> AsyncThrowingStream<ServerSentEvent, any Error> {
    var request = request
    request.target.detour = detours[request.target.host]
    let target = request.target
    let uri = request.path
    let lines = request.headerLines
    return AsyncThrowingStream { continuation in
      let channel = connect(to: target) { channel in
        let handler = EventStreamHandler(
          server: target.description,
          limit: bodyBytes,
          onEvent: { continuation.yield($0) },
          onEnd: { continuation.finish(throwing: $0) }
        )
        let decoder = HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes)
        try channel.pipeline.syncOperations.addHandlers(
          HTTPRequestEncoder(),
          ByteToMessageHandler(decoder),
          NIOHTTPRequestHeadersValidator(),
          handler
        )
      }
      continuation.onTermination = { _ in
        channel.whenSuccess { $0.close(promise: nil) }
      }
      channel.whenFailure { continuation.finish(throwing: $0) }
      channel.whenSuccess { channel in
        var headers = HTTPHeaders(lines.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Host", value: target.host)
        headers.replaceOrAdd(name: "Accept", value: "text/event-stream")
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri, headers: headers)
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
      }
    }
  }
}
