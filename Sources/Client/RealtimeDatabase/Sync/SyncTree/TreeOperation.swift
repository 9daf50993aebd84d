import RealtimeCore

/// A change that views apply; its paths are relative to the location that it is seen from.
struct TreeOperation: Sendable {
  /// The origin of a change.
  enum Source: Sendable, Equatable {
    case user
    /// The server, for every view of the data.
    case server
    /// The server, for the view of one query only.
    case query(Query)
  }

  enum Kind: Sendable {
    case overwrite(Node)
    /// Replaces the data at relative paths.
    case merge(Overlay)
    /// A write to these paths was accepted and is no longer pending.
    case acknowledge(Overlay)
    /// A write to these paths was rejected and is no longer pending.
    case revert(Overlay)
    /// The server has sent all of its data.
    case listenComplete
  }

  let source: Source
  /// The location of the change, relative to the location that it is seen from.
  let path: Path
  let kind: Kind

  /// The operation as seen from a child, or nil if it does not reach that child.
  func seen(from key: ChildKey) -> TreeOperation? {
    if let first = path.first {
      return first == key ? TreeOperation(source: source, path: path.rest, kind: kind) : nil
    }
    let below: Kind
    switch kind {
    case .overwrite(let node): below = .overwrite(node[key])
    case .listenComplete: below = .listenComplete
    case .merge(let overlay):
      switch overlay[key] {
      case .none: return nil
      case .node(let node): below = .overwrite(node)
      case .children: below = .merge(overlay[key])
      }
    case .acknowledge(let overlay):
      if overlay[key].isTransparent { return nil }
      below = .acknowledge(overlay[key])
    case .revert(let overlay):
      if overlay[key].isTransparent { return nil }
      below = .revert(overlay[key])
    }
    return TreeOperation(source: source, path: .root, kind: below)
  }

  /// The only children that the operation reaches, or nil if it reaches all of them.
  var reachedKeys: [ChildKey]? {
    if let first = path.first { return [first] }
    switch kind {
    case .overwrite, .listenComplete: return nil
    case .merge(let overlay), .acknowledge(let overlay), .revert(let overlay):
      return overlay.completeNode == nil ? overlay.touchedKeys : nil
    }
  }
}
