/// A promise that was not kept, with what proves it.
package struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// When and where: a revision, a moment of a client, a file.
  package let place: String
  /// What is wrong, in a sentence.
  package let problem: String
  /// What was found that proves it.
  package let evidence: [String]

  /// Makes a violation.
  package init(at place: String, _ problem: String, evidence: [String] = []) {
    self.place = place
    self.problem = problem
    self.evidence = evidence
  }

  /// Everything in one line.
  package var description: String {
    "\(place): \(problem)" + (evidence.isEmpty ? "" : " [\(evidence.joined(separator: "; "))]")
  }
}
