package import BlogChecker
internal import BlogModel

/// How a star is given: ours, and what others do.
package typealias StarStrategy = HistoryHeader.Strategy

extension StarStrategy: Codable {
  /// Whether the counts are exact by construction, so that drift is a fault of ours.
  package var isExact: Bool {
    switch self {
    case .transaction, .increment: true
    case .sample, .naive: false
    }
  }

  /// How a blog writes stars by this strategy; what it does not do itself does not matter to it.
  var method: StarMethod { self == .increment ? .increment : .transaction }
}
