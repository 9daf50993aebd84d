/// Why a value cannot be the value of a setting.
package struct SettingProblem: Error, Hashable, Sendable {
  /// What is wrong and what would be right.
  package let reason: String

  /// Makes a problem.
  package init(_ reason: String) {
    self.reason = reason
  }
}
