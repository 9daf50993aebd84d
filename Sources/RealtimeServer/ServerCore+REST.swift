internal import Logging
internal import NIOCore
internal import RealtimeTransport

extension ServerCore {
  /// Answers a request that is not for a WebSocket.
  ///
  /// Neither the path nor the parameters go to the log: they are data and credentials.
  func answer(_ request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    let reply = reply(to: request)
    let logger = logger
    reply.whenSuccess { reply in
      let status =
        switch reply {
        case .answer(let answer): answer.status
        case .stream(let answer, _): answer.status
        }
      logger.debug("answered", metadata: ["method": "\(request.method)", "status": "\(status)"])
    }
    return reply
  }

  private func reply(to request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    do throws(RESTError) {
      guard let rest = try RESTRequest(request) else { return done(.notREST) }
      if let namespace = request.parameter("ns"), namespace != options.namespace {
        throw RESTError(404, "there is no database of this name here")
      }
      guard phase == .running else { throw RESTError(503, "the server is stopping") }
      if rest.method == .options {
        var answer = HTTPAnswer.json(200, [])
        answer.contentType = nil
        answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", RESTMethod.allowed))
        return done(answer)
      }
      guard sessions.count + internalPeers.count < options.maximumConnections else {
        throw RESTError(503, "the server has too many connections")
      }
      guard rest.wantsStream else { return RESTExchange.run(rest, on: self) }
      if rest.options.isShallow {
        throw RESTError(400, "shallow cannot be combined with an event stream")
      }
      return EventStream.open(rest, on: self)
    } catch {
      return done(error.answer)
    }
  }

  private func done(_ answer: HTTPAnswer) -> EventLoopFuture<HTTPReply> {
    eventLoop.makeSucceededFuture(.answer(answer))
  }
}
