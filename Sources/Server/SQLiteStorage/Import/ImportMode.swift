package import RealtimeCore

/// What an import leaves as it is.
package enum ImportMode: Sendable {
  /// Nothing: the data become what the JSON says.
  case replacing
  /// All places but those that lie directly below one of these paths and are named by the JSON.
  case merging(below: @Sendable (Path) -> Bool)

  func merges(_ path: Path) -> Bool {
    switch self {
    case .replacing: false
    case .merging(let below): below(path)
    }
  }
}
