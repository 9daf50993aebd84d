internal import RealtimeCore
internal import RealtimeTransport

/// The sender of a REST request, and the identity it acts for.
///
/// A user's token comes as `auth`. An administrator's comes as `access_token` or in an
/// `Authorization: Bearer` header; with it, `auth_variable_override` is the user to act as.
struct RESTCredential {
  /// The identity of a sender without a credential.
  let base: Identity
  /// The credential, or nil when there is none.
  let authentication: ClientRequest.Authentication?
  /// The credential as another server verified it; the credential itself did not come along.
  let verified: VerifiedCredential?

  /// Reads the credential of a request without verifying it.
  ///
  /// Any credential in the request is ignored if the server that redirected it has verified one.
  init(_ request: HTTPRequest, verified: VerifiedCredential? = nil) throws(RESTError) {
    base = DatabaseCore.identity(of: request.peer)
    self.verified = verified
    let override = try Self.override(of: request)
    if verified != nil {
      authentication = ClientRequest.Authentication(credential: "", override: override)
    } else if let token = try Self.bearer(of: request) ?? request.parameter("access_token") {
      authentication = ClientRequest.Authentication(
        credential: token,
        isAdministrative: true,
        override: override
      )
    } else if let token = request.parameter("auth") {
      authentication = ClientRequest.Authentication(credential: token, override: override)
    } else if base == .administrator, override != nil {
      authentication = ClientRequest.Authentication(credential: "", override: override)
    } else {
      authentication = nil
    }
  }

  private static func bearer(of request: HTTPRequest) throws(RESTError) -> String? {
    guard let line = request.header("Authorization") else { return nil }
    let words = line.split(separator: " ", omittingEmptySubsequences: true)
    guard words.count == 2, words[0].lowercased() == "bearer" else {
      throw RESTError(401, reason: "Could not parse auth token.")
    }
    return String(words[1])
  }

  private static func override(of request: HTTPRequest) throws(RESTError) -> JSONValue? {
    guard let text = request.parameter("auth_variable_override") else { return nil }
    guard let json = try? JSONParser.parse(text), json == .null || json.members != nil else {
      throw RESTError(400, reason: "auth_variable_override must be a JSON object or null")
    }
    return json
  }
}

extension DatabaseCore {
  /// Adds an internal peer that acts for the sender of a request.
  ///
  /// - Throws: ``RESTError`` when the credential is not valid, or its user has too many
  ///   connections.
  func openInternal(
    _ peer: any InternalPeer,
    for credential: RESTCredential,
    from network: ClientNetwork? = nil
  ) throws(RESTError) -> PeerID {
    let id = openInternal(peer, as: credential.base, from: network)
    guard let authentication = credential.authentication else { return id }
    do throws(RequestError) {
      let time = context.clock()
      try hub.signIn(id, with: authentication, knowing: credential.verified, at: time)
    } catch {
      closeInternal(id)
      throw RESTError(error)
    }
    guard peers.users.count(id, towards: hub.limitedUser(of: id)) else {
      closeInternal(id)
      throw RESTError(429, reason: "the user has too many connections")
    }
    return id
  }
}
