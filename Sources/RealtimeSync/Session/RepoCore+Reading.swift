import RealtimeProtocol
import RealtimeTree

extension RepoCore {
  mutating func get(_ token: RequestToken, at path: Path, query: Query) {
    if let node = cachedValue(at: path, query: query) {
      outputs.append(.getCompleted(token, .value(node)))
      return
    }
    let get = PendingGet(token: token, path: path, query: query)
    gets.updateValue(get, forKey: makeNumber())
    if isConnected {
      send(.get(path: path, query: query), for: .get(token))
    } else {
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
      outputs.append(.getCompleted(token, failure))
      return
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
    raise(sync.fill(get.query, at: get.path, with: node), changedAt: get.path)
    outputs.append(.getCompleted(token, .value(node)))
  }

  mutating func failGet(_ token: RequestToken) {
    guard !isConnected, removeGet(token) != nil else { return }
    let failure = GetResult.failure(.unavailable, reason: "the client is offline")
    outputs.append(.getCompleted(token, failure))
  }

  private mutating func removeGet(_ token: RequestToken) -> PendingGet? {
    guard let (number, get) = gets.first(where: { $0.value.token == token }) else { return nil }
    gets.removeValue(forKey: number)
    return get
  }
}
