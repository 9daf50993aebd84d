internal import RealtimeTransport

/// Redirecting requests to the server that leads their database, and accepting redirected ones.
extension ServerCore {
  /// Determines who sent a request, by its credential or by the ticket of a redirect.
  func sender(
    of request: HTTPRequest,
    isCarriedOut: Bool = true
  ) -> Result<RESTCredential, RESTError> {
    do throws(RESTError) {
      guard leaders != nil, request.parameter(RedirectTicket.parameter) != nil else {
        return .success(try RESTCredential(request))
      }
      let verified = try redeem(request, isCarriedOut: isCarriedOut)
      return .success(try RESTCredential(request, verified: verified))
    } catch {
      return .failure(error)
    }
  }

  /// Redirects a request to another server.
  ///
  /// - Returns: The redirect, or a refusal if the credential is invalid and would not travel with
  ///   it.
  func redirect(
    _ request: HTTPRequest,
    by redirection: Redirection,
    from sender: Result<RESTCredential, RESTError>
  ) -> HTTPAnswer {
    var target = RedirectTicket.split(request.target).target
    let name = name(in: request)
    func add(_ parameter: String, _ value: String) {
      target += "\(target.contains("?") ? "&" : "?")\(parameter)=\(PercentEncoding.encode(value))"
    }
    if request.parameter("ns") == nil { add("ns", name) }
    do throws(RESTError) {
      if !request.peer.isLocal, let verified = try verified(request, from: try sender.get()) {
        let asked = Self.ticketed(request, target: target, database: name)
        guard let time = leaders?.storageTime, let secret = identities.sharedSecret,
          let ticket = RedirectTicket(
            server: redirection.server,
            request: asked,
            end: time + RedirectTicket.lifetime,
            credential: verified
          )
          .sealed(with: secret)
        else {
          throw RESTError(redirection)
        }
        add(RedirectTicket.parameter, ticket)
      }
    } catch {
      return error.answer
    }
    return redirection.answer(to: request, target: target, isSecure: options.tls != nil)
  }

  /// Verifies a credential that does not travel with a redirect; nil if there is none.
  ///
  /// A token in the URL stays there, so it needs no ticket.
  private func verified(
    _ request: HTTPRequest,
    from sender: RESTCredential
  ) throws(RESTError) -> VerifiedCredential? {
    if let verified = sender.verified { return verified }
    guard request.header("Authorization") != nil, let authentication = sender.authentication else {
      return nil
    }
    return try verify(authentication, for: name(in: request))
  }

  /// Redeems the ticket of a request that another server has redirected here.
  private func redeem(
    _ request: HTTPRequest,
    isCarriedOut: Bool
  ) throws(RESTError) -> VerifiedCredential {
    let (target, text) = RedirectTicket.split(request.target)
    guard let leaders, let time = leaders.storageTime, let secret = identities.sharedSecret else {
      throw RESTError(503, reason: "the server is not ready")
    }
    let name = name(in: request)
    guard let text, let ticket = RedirectTicket(text, sealedWith: secret) else {
      throw Self.ticketRefusal("is not from one of these servers")
    }
    guard ticket.request == Self.ticketed(request, target: target, database: name) else {
      throw Self.ticketRefusal("is for another request")
    }
    guard ticket.server == leaders.id else { throw Self.ticketRefusal("is for another server") }
    let end = ticket.end + RedirectTicket.margin
    guard time < end, ticket.end <= time + RedirectTicket.lifetime + RedirectTicket.margin else {
      throw Self.ticketRefusal("has expired")
    }
    if let auth = ticket.credential.identity.auth, identities.verifier(of: name).isShutOut(auth) {
      throw RESTError(401, reason: "Auth token is revoked.")
    }
    if isCarriedOut, !useTicket(text, until: end, at: time) {
      throw Self.ticketRefusal("has already been used")
    }
    return ticket.credential
  }

  private static func ticketRefusal(_ reason: String) -> RESTError {
    RESTError(
      401,
      reason:
        "the ticket in the address \(reason): send the request with its token to the first "
        + "address again"
    )
  }

  /// The request that a ticket is bound to, whose method a header line may override.
  private static func ticketed(
    _ request: HTTPRequest,
    target: String,
    database: String
  ) -> TicketedRequest {
    let method = (try? RESTRequest.method(of: request).rawValue) ?? request.method
    return TicketedRequest(method: method, target: target, database: database)
  }
}

extension RedirectTicket {
  /// Splits a request target into the part without the ticket, and the ticket, which comes last.
  static func split(_ target: String) -> (target: String, ticket: String?) {
    guard let mark = target.lastIndex(where: { $0 == "?" || $0 == "&" }) else {
      return (target, nil)
    }
    let last = target[target.index(after: mark)...]
    guard last.hasPrefix("\(parameter)=") else { return (target, nil) }
    return (String(target[..<mark]), String(last.dropFirst(parameter.count + 1)))
  }
}
