internal import RealtimeCore

/// How long a write is expected to take: by the values that come and go, and by its length.
///
/// The rates are those of a modest machine on a busy day, with rules and an index: who asks for a
/// bound wants to keep others from waiting, and writes in smaller parts when one is refused.
struct WriteEstimate {
  /// Values that are written or removed in a second.
  private static let valuesPerSecond = 100_000
  /// Bytes of JSON that are taken in in a second.
  private static let bytesPerSecond = 8 * 1_024 * 1_024

  private let limit: Int
  private var values = 0
  private let bytes: Int

  /// Begins an estimate.
  ///
  /// - Parameters:
  ///   - limit: The time beyond which nobody wants to know it exactly.
  ///   - bytes: The length of the request.
  init(upTo limit: Duration, bytes: Int) {
    self.limit = Int(limit.components.seconds) * Self.valuesPerSecond
    self.bytes = bytes
  }

  /// The time; when it is beyond the limit, at least a little more than that.
  var duration: Duration {
    max(
      .seconds(Double(values) / Double(Self.valuesPerSecond)),
      .seconds(Double(bytes) / Double(Self.bytesPerSecond))
    )
  }

  /// Counts the values of what is written, or of what is replaced.
  ///
  /// - Complexity: O(values), but never more than the limit.
  mutating func add(_ node: Node) {
    guard values <= limit else { return }
    guard let children = node.children else {
      if !node.isEmpty { values += 1 }
      return
    }
    for child in children.map {
      guard values <= limit else { return }
      add(child.value)
    }
  }
}
