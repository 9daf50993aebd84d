import RealtimeCore

extension RepoCore {
  mutating func get(_ token: RequestToken, at path: Path, query: Query) {
    let place = Place(path: path, query: query)
    if !isUnconfirmed(place), let node = cachedValue(at: path, query: query) {
      return outputs.append(.getCompleted(token, .value(node, metadata(of: node, place))))
    }
    // No connection will come before the caller goes online again.
    if connection.interrupts.contains(.user) {
      let known = knownValue(at: path, query: query)
      let result = known.map { GetResult.value($0.node, $0.1) } ?? Self.offlineFailure
      return outputs.append(.getCompleted(token, result))
    }
    let get = PendingGet(token: token, path: path, query: query)
    gets.updateValue(get, forKey: makeNumber())
    if isSettled {
      send(.get(path: path, query: query), for: .get(token))
    } else if !isConnected {
      scheduleDeadline(get)
    }
  }

  mutating func scheduleDeadline(_ get: PendingGet) {
    if let deadline = configuration.getDeadline {
      outputs.append(.schedule(.getDeadline(get.token), after: deadline))
    }
  }

  mutating func getAnswered(_ token: RequestToken, _ response: ServerMessage.Response) {
    guard let get = removeGet(token) else { return }
    guard response.status == .ok else {
      let failure = GetResult.failure(response.status, reason: response.reason)
      // What the rules forbid is not shown from a store either.
      let result = response.status == .permissionDenied ? nil : known(get)
      return outputs.append(.getCompleted(token, result ?? failure))
    }
    let node: Node
    switch response.payload {
    case .node(let data): node = data
    case .json(let json):
      do throws(NodeError) {
        node = try Node(json: json)
      } catch {
        let failure = GetResult.failure(.invalidData, reason: error.description)
        outputs.append(.getCompleted(token, failure))
        return
      }
    }
    offline?.keep(node, of: Place(path: get.path, query: get.query), now: now.wall)
    raise(sync.fill(get.query, at: get.path, with: node), changedAt: get.path)
    outputs.append(.getCompleted(token, .value(node, DataMetadata())))
  }

  mutating func failGet(_ token: RequestToken) {
    guard !isConnected, let get = removeGet(token) else { return }
    outputs.append(.getCompleted(token, known(get) ?? Self.offlineFailure))
  }

  /// How a read ends without a connection when nothing is known, in the words of official clients.
  private static let offlineFailure = GetResult.failure(.unavailable, reason: "Client is offline.")

  /// What is known here of a read that the server does not answer, or nil when that is nothing.
  private mutating func known(_ get: PendingGet) -> GetResult? {
    knownValue(at: get.path, query: get.query).map { .value($0.node, $0.1) }
  }

  private mutating func removeGet(_ token: RequestToken) -> PendingGet? {
    guard let (number, get) = gets.first(where: { $0.value.token == token }) else { return nil }
    gets.removeValue(forKey: number)
    return get
  }
}
