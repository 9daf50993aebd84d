/// How large a write may be, by the names of the REST API: each stands for a time that it may take.
enum WriteSize: String, CaseIterable {
  /// A second.
  case tiny
  /// Ten seconds.
  case small
  /// Half a minute.
  case medium
  /// A minute.
  case large
  /// Any time.
  case unlimited

  /// The time that a write may take, or nil when it may take any.
  var target: Duration? {
    switch self {
    case .tiny: .seconds(1)
    case .small: .seconds(10)
    case .medium: .seconds(30)
    case .large: .seconds(60)
    case .unlimited: nil
    }
  }

  /// Whether a write is expected to take no longer than its size allows.
  ///
  /// - Complexity: O(values), but never more than what the target holds.
  func allows(_ estimate: (_ limit: Duration) -> Duration) -> Bool {
    target.map { estimate($0) <= $0 } ?? true
  }
}
