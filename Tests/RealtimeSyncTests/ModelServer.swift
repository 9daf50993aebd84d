import OfflineTestSupport
import RealtimeCore

@testable import RealtimeDatabase

/// A naive server for one client: it keeps a whole tree and re-evaluates every listen.
struct ModelServer {
  enum Message {
    case data(Path, Node, tag: Int64?)
    case merge(Path, [Change], tag: Int64?)
    case listenComplete(ListenTarget)
    case answer(Int64, isAccepted: Bool)
  }

  /// Messages that belong together, and the tree that results from them.
  struct Group {
    var messages: [Message]
    let tree: Node
  }

  private(set) var tree = Node.empty
  private var listens: [ListenTarget] = []
  private(set) var sent: [Group] = []

  mutating func takeGroup() -> Group? { sent.isEmpty ? nil : sent.removeFirst() }

  mutating func listen(_ target: ListenTarget, hash: String?) {
    listens.removeAll { $0 == target }
    listens.append(target)
    var messages: [Message] = []
    let value = target.query.evaluate(tree[target.path])
    if value.hash != hash { messages.append(.data(target.path, value, tag: target.tag)) }
    sent.append(Group(messages: messages + [.listenComplete(target)], tree: tree))
  }

  /// Discards the listens of a connection and anything not yet sent on it.
  mutating func disconnect() {
    listens = []
    sent = []
  }

  mutating func unlisten(_ target: ListenTarget) {
    listens.removeAll { $0 == target }
  }

  /// Applies a write; other writes may precede its answer, as when a first answer was lost.
  mutating func write(
    _ parts: [Change],
    id: Int64?,
    isAccepted: Bool = true,
    beforeAnswer others: [Change] = []
  ) {
    var messages: [Message] = []
    for parts in isAccepted ? [parts, others] : [others] {
      let old = tree
      for part in parts { tree.update(at: part.path, to: part.node) }
      for listen in listens { messages += pushes(listen, from: old, parts) }
    }
    if let id { messages.append(.answer(id, isAccepted: isAccepted)) }
    sent.append(Group(messages: messages, tree: tree))
  }

  private func pushes(_ listen: ListenTarget, from old: Node, _ parts: [Change]) -> [Message] {
    if let tag = listen.tag {
      let before = listen.query.evaluate(old[listen.path])
      let after = listen.query.evaluate(tree[listen.path])
      let keys = Set(
        (before.children?.map.map(\.key) ?? []) + (after.children?.map.map(\.key) ?? [])
      )
      let changed = keys.sorted().filter { before[$0] != after[$0] }
      if changed.isEmpty { return [] }
      return [.merge(listen.path, changed.map { Change(Path([$0]), to: after[$0]) }, tag: tag)]
    }
    var changes: [Change] = []
    for part in parts where part.path.overlaps(listen.path) {
      let place = listen.path.contains(part.path) ? part.path : listen.path
      // A priority on an empty node, or of an ancestor, shows only in the whole.
      guard old[place] != tree[place] || place.isPriority else { continue }
      changes.append(Change(Path(place.keys.dropFirst(listen.path.count)), to: tree[place]))
    }
    if changes.count > 1 { return [.merge(listen.path, changes, tag: nil)] }
    return changes.map { .data(listen.path.appending($0.path), $0.node, tag: nil) }
  }
}

/// A listener with what its events tell.
struct ModelListener {
  let id: ListenerID
  let path: Path
  let query: Query
  var children = ReplayedChildren()
}
