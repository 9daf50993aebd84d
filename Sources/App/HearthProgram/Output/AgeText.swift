/// How long ago something was, in few characters.
enum AgeText {
  /// The largest unit that fits: now, 3m, 2h, 5d, 1y.
  static func of(_ milliseconds: Int64) -> String {
    let minutes = milliseconds / 60_000
    switch minutes {
    case ..<1: return "now"
    case ..<60: return "\(minutes)m"
    case ..<1_440: return "\(minutes / 60)h"
    case ..<525_600: return "\(minutes / 1_440)d"
    default: return "\(minutes / 525_600)y"
    }
  }
}
