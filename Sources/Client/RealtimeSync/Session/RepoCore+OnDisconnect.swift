import RealtimeCore

extension RepoCore {
  mutating func queueDisconnectAction(
    _ token: RequestToken,
    at path: Path,
    _ kind: DisconnectAction.Kind
  ) {
    guard !path.isInfo else {
      return complete(token, .permissionDenied, "nothing can be written below /.info")
    }
    let number = makeNumber()
    let action = DisconnectAction(token: token, path: path, kind: kind)
    disconnectActions.updateValue(action, forKey: number)
    sendDisconnectAction(number, action)
  }

  mutating func sendDisconnectAction(_ number: Int64, _ action: DisconnectAction) {
    guard isSettled else { return }
    switch action.kind {
    case .schedule(let operation):
      send(.onDisconnect(path: action.path, operation), for: .onDisconnect(number: number))
    case .cancel: send(.cancelOnDisconnect(path: action.path), for: .onDisconnect(number: number))
    }
  }

  mutating func disconnectActionAnswered(_ number: Int64, _ response: ServerMessage.Response) {
    guard let action = disconnectActions.removeValue(forKey: number) else { return }
    if response.status == .ok {
      switch action.kind {
      case .cancel: scheduled.clear(action.path)
      case .schedule(.set(let node)): scheduled.set(action.path, to: node)
      case .schedule(.merge(let changes)):
        for change in changes {
          scheduled.set(action.path.appending(change.path), to: change.node)
        }
      }
    }
    complete(action.token, response.status, response.reason)
  }

  /// Shows what the server writes at the end of the connection, as if it had said so.
  mutating func runScheduledWrites() {
    let changes = scheduled.changes
    scheduled = .none
    for change in changes {
      let node = resolve(change.node, at: change.path)
      let events = sync.overwrite(at: change.path, with: node)
      offline?.follow([change.path], tag: nil, in: sync)
      raise(events)
      overrideTransactions(at: change.path)
    }
  }
}
