/// One promise that is checked, over every commit and over what clients have noted.
///
/// The checker makes it with the evidence, shows it every step and every end of the server in their
/// order, and asks for the conclusion last.
protocol Invariant: Sendable {
  /// Which promises it stands for.
  static var promises: [Promise] { get }
  /// What it says, in a few words.
  static var statement: String { get }
  /// What it has found.
  var findings: Findings { get }

  init(_ evidence: Evidence)

  /// Looks at a commit.
  mutating func observe(_ step: Step)

  /// Looks at what an ended server has left.
  mutating func observeCrash(_ crash: Crash)

  /// Looks at everything, after the last commit.
  mutating func conclude()
}

extension Invariant {
  mutating func observe(_ step: Step) {}
  mutating func observeCrash(_ crash: Crash) {}
  mutating func conclude() {}
}
