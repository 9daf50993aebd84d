/// Counts the cases of the conformance file.
actor SpecTally {
  static let shared = SpecTally()
  private var passed = 0
  private var failed = 0

  func count(passed isPassed: Bool) {
    if isPassed { passed += 1 } else { failed += 1 }
  }

  var line: String { "\(passed) passed, \(failed) failed" }
}
