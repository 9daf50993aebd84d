/// How often something was looked at, and what was wrong.
package struct Findings: Sendable {
  /// How many violations are kept; all are counted.
  private static let kept = 20

  /// How often it was checked.
  package private(set) var checked = 0
  /// How often it did not hold.
  package private(set) var violationCount = 0
  /// The first violations.
  package private(set) var violations: [Violation] = []

  init() {}

  /// Counts a check, and notes a violation when it does not hold.
  mutating func expect(
    _ holds: Bool,
    at place: @autoclosure () -> String,
    _ problem: @autoclosure () -> String,
    evidence: () -> [String] = { [] }
  ) {
    checked += 1
    if holds { return }
    violationCount += 1
    guard violations.count < Self.kept else { return }
    violations.append(Violation(at: place(), problem(), evidence: evidence()))
  }

  /// Counts checks that have held.
  mutating func held(_ count: Int = 1) { checked += count }
}
