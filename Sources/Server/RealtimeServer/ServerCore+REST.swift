internal import Logging
internal import NIOCore
internal import RealtimeHub
internal import RealtimeTransport
internal import SecurityRules

extension ServerCore {
  /// Answers a request that is not for a WebSocket.
  ///
  /// Neither the path nor the parameters go to the log: they are data and credentials.
  func answer(_ request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    let reply = reply(to: request).flatMapErrorThrowing { error in
      .answer((error as? RESTError ?? RESTError(500, "the server failed")).answer)
    }
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

  /// Decides whose memory a long body takes, by the credential of its request.
  ///
  /// Who could not write anything anyway is told so before the body is read.
  func admitBody(of request: HTTPRequest) -> BodyAdmission {
    if IdentityRoute(path: request.path) != nil {
      // What it stands for is found out with the body.
      let isPlausible = request.header("Authorization") != nil || options.isEmulator
      return isPlausible ? .ofStranger : .refused(.identity(IdentityAnswer(.bodyTooLong)))
    }
    let database = databases.opened(name(in: request))
    do throws(RESTError) {
      let credential = try RESTCredential(request)
      if let authentication = credential.authentication {
        guard credential.base != .administrator else { return .ofKnown }
        do throws(CredentialError) {
          let verifier = identities.verifier(of: name(in: request))
          _ = try verifier.verify(authentication, at: context.clock())
        } catch {
          throw RESTError(error)
        }
        return .ofKnown
      }
      if credential.base == .administrator { return .ofKnown }
      // What the rules of a database say that is not open yet is not known.
      let isOpen = database?.hub.rulesInForce.mayLetNobodyWrite ?? true
      guard isOpen, !RulesRequest.isMeant(by: request) else { throw RESTError.permissionDenied }
      return .ofStranger
    } catch {
      return .refused(error.answer)
    }
  }

  private func reply(to request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    if request.path == Self.metricsPath { return metricsReply(to: request) }
    if RulesRequest.isMeant(by: request) { return rulesReply(to: request) }
    if let route = IdentityRoute(path: request.path) { return identityReply(to: request, route) }
    let rest: RESTRequest
    do throws(RESTError) {
      guard let read = try RESTRequest(request, depthLimit: options.limits.jsonDepth) else {
        return eventLoop.makeSucceededFuture(.answer(.notREST))
      }
      rest = read
      if let refusal { throw refusal }
    } catch {
      return eventLoop.makeFailedFuture(error)
    }
    let bound = NIOLoopBound(rest, eventLoop: eventLoop)
    return database(for: request).flatMap { database in
      Self.answer(bound.value, from: database)
    }
  }

  private func rulesReply(to request: HTTPRequest) -> EventLoopFuture<HTTPReply> {
    do throws(RESTError) {
      let rules = try RulesRequest(request)
      if let refusal { throw refusal }
      return database(for: request).flatMap { RulesExchange.run(rules, on: $0) }
    } catch {
      return eventLoop.makeFailedFuture(error)
    }
  }

  private static func answer(
    _ request: RESTRequest,
    from database: DatabaseCore
  ) -> EventLoopFuture<HTTPReply> {
    if request.method == .options {
      var answer = HTTPAnswer.json(200, [])
      answer.contentType = nil
      answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", RESTMethod.allowed))
      return database.eventLoop.makeSucceededFuture(.answer(answer))
    }
    guard request.wantsStream else { return RESTExchange.run(request, on: database) }
    if request.options.isShallow {
      return database.eventLoop.makeFailedFuture(
        RESTError(400, "shallow cannot be combined with an event stream")
      )
    }
    return EventStream.open(request, on: database)
  }
}
