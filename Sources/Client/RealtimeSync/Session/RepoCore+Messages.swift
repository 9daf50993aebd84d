import RealtimeCore

extension RepoCore {
  mutating func receive(_ message: ServerMessage, on id: ConnectionID) {
    guard connection.current == id else { return }
    connection.lastReceived = now.monotonic
    switch message {
    case .hello(let hello): greeted(hello, on: id)
    case .reset(let host):
      close(redirectedTo: configuration.followsServerHost && !host.isEmpty ? host : nil)
    case .shutdown(let reason):
      log("the server asks not to be connected to again: \(reason)")
      goOffline(.serverKill)
    case .error(let text): log("the server reports an error: \(text)")
    case .pong: connection.noteAnswer(at: now.monotonic)
    case .response(let number, let response):
      answered(number, response)
      connection.noteAnswer(at: now.monotonic)
    case .push(let push):
      if isConnected { receive(push) }
    }
  }

  private mutating func greeted(_ hello: ServerHello, on id: ConnectionID) {
    guard case .connecting = connection.phase else { return }
    connection.phase = .connected(id)
    connection.openedAt = now.monotonic
    connection.lastSent = now.monotonic
    connection.extensions = hello.extensions
    if configuration.followsServerHost, !hello.host.isEmpty { connection.host = hello.host }
    if hello.version != "5" { log("the server speaks version \(hello.version) of the protocol") }
    outputs.append(.cancelTimer(.connectTimeout))
    outputs.append(.schedule(.keepalive, after: configuration.keepaliveInterval))
    serverTimeOffset = hello.timestamp &- now.wall
    updateInfo(InfoPath.serverTimeOffset, to: .integer(serverTimeOffset))
    restore()
    updateInfo(InfoPath.connected, to: .bool(true))
  }

  /// Brings a new connection to where the last one was, in the order that the protocol asks for.
  private mutating func restore() {
    if !connection.hasSentStatistics {
      connection.hasSentStatistics = true
      send(.stats(.object((configuration.statisticsName, .integer(1)))), for: .other)
    }
    if let credential { send(.authenticate(credential), for: .authenticate(credential)) }
    for (serial, target) in listens.targets { sendListen(target, serial: serial) }
    let isOnce = connection.extensions.contains(.writeOnce)
    let user = user
    failSentTransactions { $0.isHeld(from: user) || !isOnce && $0.request.key != nil }
    sendWaiting()
  }

  private mutating func answered(_ number: Int64, _ response: ServerMessage.Response) {
    guard let request = connection.requests.removeValue(forKey: number) else { return }
    switch request {
    case .listen(let serial, _): listenAnswered(serial, response)
    case .write(let number): writeAnswered(number, response.status, response.reason)
    case .onDisconnect(let number): disconnectActionAnswered(number, response)
    case .get(let token): getAnswered(token, response)
    case .authenticate(let authentication): authenticationAnswered(authentication, response)
    case .other: return
    }
  }

  /// Takes the answer to a compound hash; it holds for the data that the listen was sent with.
  private mutating func receive(_ ranges: [RangeMerge], at path: Path, tag: Int64?) {
    guard let target = sync.target(at: path, tag: tag),
      let serial = listens.serial(of: target), connection.nextAnswered(target) == serial
    else { return }
    listens.markCurrent(target)
    let events = sync.merge(ranges, into: target)
    offline?.follow([path], tag: tag, in: sync)
    raise(events, changedAt: path)
  }

  private mutating func receive(_ push: ServerPush) {
    switch push {
    case .data(let path, let node, let tag):
      let events = sync.overwrite(at: path, with: node, tag: tag)
      offline?.follow([path], tag: tag, in: sync)
      if let target = sync.target(at: path, tag: tag) {
        // All data of a listen, be it that its answer is still to come.
        listens.markCurrent(target)
        offline?.complete(target, with: sync.serverNode(of: target))
      }
      raise(events, changedAt: path)
    case .merge(let path, let changes, let tag):
      let events = sync.merge(at: path, changes, tag: tag)
      let places = Overlay(changes).changes.map { path.appending($0.path) }
      offline?.follow(places, tag: tag, in: sync)
      raise(events, changedAt: path)
    case .rangeMerge(let path, let changes, let tag):
      let ranges = changes.map { RangeMerge(start: $0.start, end: $0.end, node: $0.node) }
      receive(ranges, at: path, tag: tag)
    case .listenRevoked(let path, let queries): listensRevoked(at: path, queries: queries)
    case .authenticationRevoked(let status, let reason): rejectCredential(status, reason)
    case .appCheckRevoked(let status, let reason): log("app check revoked: \(status) \(reason)")
    case .securityDebug(let text): log(text)
    case .unknown(let action): log("the server sent an unknown action \"\(action)\"")
    }
  }
}

extension ServerMessage.Response {
  /// The JSON of the answer, or nil when it carries data of the tree.
  var json: JSONValue? {
    if case .json(let json) = payload { json } else { nil }
  }

  /// The reason that a refusal gives, empty when it gives none.
  var reason: String { json?.string ?? "" }
}
