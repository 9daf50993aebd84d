import RealtimeCore

/// One promise that is checked over every commit and over what clients have recorded.
///
/// The checker creates it with the evidence and no findings, calls it for every step and every crash
/// in order, and then once more for the conclusion.
protocol Invariant: Sendable {
  static var promises: [Promise] { get }
  /// The promise, in a few words.
  static var statement: String { get }
  var findings: Findings { get }

  init(evidence: Evidence, findings: Findings)

  mutating func observe(_ step: Step)

  /// Checks what a server had stored when it ended.
  mutating func observeCrash(_ crash: Standstill)

  /// Checks everything, after the last commit.
  mutating func conclude()
}

extension Invariant {
  mutating func observe(_ step: Step) {}
  mutating func observeCrash(_ crash: Standstill) {}
  mutating func conclude() {}
}

/// The evidence of a run: what clients have recorded, and what the observer saw.
struct Evidence: Sendable {
  let history: History
  let commits: CommitHistory
  let options: CheckOptions
  /// What must be in the database according to the histories.
  let model: Model
  let reads: [AnsweredRead]
  /// All states of each post, and of the other paths that clients listen to or read.
  private(set) var paths: PathVersions
  private(set) var order: CommitOrder

  init(history: History, commits: CommitHistory, options: CheckOptions) {
    self.history = history
    self.commits = commits
    self.options = options
    model = Model(history, initial: commits.root)
    reads = history.operations.compactMap(AnsweredRead.init)
    paths = PathVersions(commits, and: Set(reads.map(\.path)))
    order = CommitOrder(history.operations, model: model, commits: commits)
    for case .step(let step) in Replay(commits) {
      paths.observe(step)
      order.observe(step)
    }
  }

  var finalRoot: Node { commits.finalRoot }
  /// The moment at which the final data is compared.
  var end: Standstill { Standstill(root: finalRoot, period: .end, location: "at the end") }
}

/// How often a promise was checked, and what was wrong.
struct Findings: Sendable {
  /// The maximum number of violations that are kept; all are counted.
  private static let kept = 20

  private(set) var checked = 0
  private(set) var violationCount = 0
  private(set) var violations: [Violation] = []

  /// Counts a check, and records a violation when it does not hold.
  mutating func expect(
    _ holds: Bool,
    at location: @autoclosure () -> String,
    otherwise problem: @autoclosure () -> String,
    evidence: () -> [String] = { [] }
  ) {
    checked += 1
    if holds { return }
    violationCount += 1
    guard violations.count < Self.kept else { return }
    violations.append(
      Violation(location: location(), problem: problem(), evidence: evidence())
    )
  }

  mutating func held(_ count: Int = 1) { checked += count }
}

/// A promise that was not kept, with the evidence.
struct Violation: Hashable, Sendable, CustomStringConvertible {
  /// When and where: a revision, a moment of a client, or a file.
  let location: String
  /// What is wrong, in a sentence.
  let problem: String
  /// The facts that prove it.
  var evidence: [String] = []

  var description: String {
    "\(location): \(problem)" + (evidence.isEmpty ? "" : " [\(evidence.joined(separator: "; "))]")
  }
}

/// What a blog and its database promise, by the numbers used in the documentation.
package enum Promise: String, Sendable, CaseIterable {
  case i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14
  case g1, g2, g3, g4, g5, g6, g7, g8, g9, g10, g11, g12, g13

  var name: String { rawValue.uppercased() }
}

enum Words {
  /// A number with its noun, such as "1 fault" or "2 faults"; irregular plurals are passed in.
  static func count(
    _ number: some BinaryInteger,
    _ name: String,
    plural: String? = nil
  ) -> String {
    "\(number) \(number == 1 ? name : plural ?? "\(name)s")"
  }
}
