import RealtimeCore

/// Who uses the database, and how that is proved to the server.
extension RepoCore {
  /// Changes the user to whom writes belong.
  ///
  /// Writes of the user before that are not acknowledged are kept and still shown, but are not sent
  /// under another name. Transactions and what is scheduled for the end of the connection are
  /// nothing that could wait.
  mutating func act(as user: String?) {
    guard self.user != user else { return }
    let hadUser = self.user != nil
    self.user = user
    guard hadUser else { return }
    let reason = "another user signed in before it was acknowledged"
    cancelTransactions(reason)
    let sent = Set(connection.requests.values.compactMap(\.disconnectAction))
    for (number, action) in disconnectActions where !sent.contains(number) {
      disconnectActions.removeValue(forKey: number)
      complete(action.token, .writeCanceled, reason)
    }
  }

  mutating func authenticate(_ authentication: ClientRequest.Authentication) {
    credential = authentication
    send(.authenticate(authentication), for: .authenticate(authentication))
    goOnline(.tokenRefresh)
  }

  mutating func unauthenticate() {
    if credential != nil { send(.unauthenticate, for: .other) }
    credential = nil
    sendWaiting()
    goOnline(.tokenRefresh)
  }

  /// Whether requests can be sent that depend on who the user is.
  ///
  /// While a credential is under way they wait: a server that refuses it would refuse them as well.
  var isSettled: Bool { isConnected && !connection.isAuthenticating }

  /// Sends what waited for a connection, for its user, or for the answer to a credential.
  mutating func sendWaiting() {
    guard isSettled else { return }
    let sent = connection.requests.values
    let sentWrites = Set(sent.compactMap(\.write))
    for (number, _) in writes where !sentWrites.contains(number) { sendWrite(number) }
    let sentActions = Set(sent.compactMap(\.disconnectAction))
    for (number, action) in disconnectActions where !sentActions.contains(number) {
      sendDisconnectAction(number, action)
    }
    let sentGets = Set(sent.compactMap(\.get))
    for (_, get) in gets where !sentGets.contains(get.token) {
      if configuration.getDeadline != nil { outputs.append(.cancelTimer(.getDeadline(get.token))) }
      send(.get(path: get.path, query: get.query), for: .get(get.token))
    }
  }

  mutating func authenticationAnswered(
    _ authentication: ClientRequest.Authentication,
    _ response: ServerMessage.Response
  ) {
    if credential == authentication {
      guard response.status == .ok else {
        return rejectCredential(response.status, response.reason)
      }
      outputs.append(.credentialAccepted)
    }
    guard !connection.isAuthenticating else { return }
    let targets = connection.unsettledTargets
    connection.unsettledTargets = []
    for target in targets {
      if let serial = listens.serial(of: target) { sendListen(target, serial: serial) }
    }
    sendWaiting()
  }

  /// Drops the credential and the connection, until the caller presents another or does without.
  mutating func rejectCredential(_ status: StatusCode, _ reason: String) {
    credential = nil
    outputs.append(.credentialRejected(status, reason: reason))
    goOffline(.tokenRefresh)
  }
}

extension ConnectionState.Request {
  /// The number of the write that is answered, or nil.
  fileprivate var write: Int64? {
    if case .write(let number) = self { number } else { nil }
  }

  /// The read that is answered, or nil.
  fileprivate var get: RequestToken? {
    if case .get(let token) = self { token } else { nil }
  }

  /// The number of the action for the end of the connection that is answered, or nil.
  fileprivate var disconnectAction: Int64? {
    if case .onDisconnect(let number) = self { number } else { nil }
  }
}
