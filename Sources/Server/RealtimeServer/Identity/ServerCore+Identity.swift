internal import NIOCore
internal import RealtimeCore
internal import RealtimeHub
internal import RealtimeTransport

extension ServerCore {
  /// Answers a request about identities.
  func identityReply(to request: HTTPRequest, _ route: IdentityRoute) -> EventLoopFuture<HTTPReply>
  {
    if let refusal { return eventLoop.makeFailedFuture(refusal) }
    if request.method == "OPTIONS" {
      var answer = HTTPAnswer.empty(200)
      answer.headerLines.append(HTTPAnswer.HeaderLine("Allow", "POST, OPTIONS"))
      return eventLoop.makeSucceededFuture(.answer(answer))
    }
    // The emulator has one set of accounts, whatever project a test has made up.
    let name = options.isEmulator ? options.namespace : route.project ?? self.name(in: request)
    let identities = NIOLoopBound(identities, eventLoop: eventLoop)
    let asked = Self.identityRequest(request, route, database: name)
    return databases.database(name, isMade: options.isEmulator)
      .flatMap { _ in identities.value.answer(asked) }
      .flatMapErrorThrowing { error in
        let refusal = DatabaseRegistry.refusal(error)
        let code = refusal.status == 404 ? "PROJECT_NOT_FOUND" : "UNAVAILABLE"
        return .answer(
          .identity(IdentityAnswer(IdentityError(code, refusal.reason, status: refusal.status)))
        )
      }
  }

  private static func identityRequest(
    _ request: HTTPRequest,
    _ route: IdentityRoute,
    database: String
  ) -> IdentityRequest {
    var asked = IdentityRequest(request.method, route, database: database)
    asked.parameters = request.parameters
    asked.contentType = request.header("Content-Type")
    asked.body = request.body
    switch request.peer {
    case .local(let credentials): asked.client = "user \(credentials.user)"
    case .network(let address):
      // Without the port, which is another one for every connection.
      asked.client = String(address[..<(address.lastIndex(of: ":") ?? address.endIndex)])
    }
    asked.isLocalAdministrator = identity(of: request.peer) == .administrator
    let words = (request.header("Authorization") ?? "").split(separator: " ")
    if words.count == 2, words[0].lowercased() == "bearer" { asked.bearer = String(words[1]) }
    return asked
  }
}

extension HTTPAnswer {
  /// The answer to a request about identities, which nobody is to keep.
  static func identity(_ answer: IdentityAnswer) -> HTTPAnswer {
    var reply = HTTPAnswer.json(answer.status, Array(answer.json.text.utf8))
    reply.headerLines = [HeaderLine("Cache-Control", "no-store")]
    if answer.status == 405 { reply.headerLines.append(HeaderLine("Allow", "POST, OPTIONS")) }
    return reply
  }
}
