/// How often each action is taken, relative to the others.
package struct SwarmMix: Hashable, Codable, Sendable {
  /// The share of each action; a missing action never happens.
  package private(set) var shares: [SwarmAction: Int]

  /// The mix of a run that names none: a few posts, many comments, more stars.
  static let usual = SwarmMix(
    shares: [
      .post: 5, .comment: 20, .star: 40, .unstar: 14, .edit: 5, .delete: 4, .retract: 4, .count: 6,
      .trespass: 2,
    ]
  )

  /// The mix of a long run: comments are also deleted often, so that the database does not grow.
  package static let steady = SwarmMix(
    shares: [
      .post: 4, .comment: 16, .star: 32, .unstar: 22, .edit: 4, .delete: 4, .retract: 16, .count: 6,
      .trespass: 2,
    ]
  )

  private init(shares: [SwarmAction: Int]) {
    self.shares = shares
  }

  /// Parses a mix such as `post=5,comment=20,star=50`.
  ///
  /// - Parameter text: Names of actions with their shares; actions that are not named never happen.
  /// - Throws: ``SwarmProblem`` that names the invalid part.
  package init(_ text: String) throws(SwarmProblem) {
    shares = [:]
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, let share = Int(sides[1]), (0...1_000).contains(share) else {
        throw SwarmProblem("\"\(part)\" is not of the form action=share (0 to 1000)")
      }
      guard let action = SwarmAction(rawValue: String(sides[0])) else {
        let names = SwarmAction.allCases.map(\.rawValue).joined(separator: ", ")
        throw SwarmProblem("\"\(sides[0])\" is not an action: there are \(names)")
      }
      guard shares.updateValue(share, forKey: action) == nil else {
        throw SwarmProblem("\"\(sides[0])\" has two shares")
      }
    }
    guard total > 0 else { throw SwarmProblem("the mix is empty") }
  }

  /// The sum of all shares.
  package var total: Int { shares.values.reduce(0, +) }

  /// The mix in the form that ``init(_:)`` parses, in the order of the actions.
  var text: String {
    SwarmAction.allCases.compactMap { action in
      shares[action].map { "\(action.rawValue)=\($0)" }
    }.joined(separator: ",")
  }

  /// The same mix without an action.
  package func without(_ action: SwarmAction) -> SwarmMix {
    SwarmMix(shares: shares.filter { $0.key != action })
  }

  /// Chooses an action whose share is above 0, with a probability proportional to it.
  func pick(using generator: inout SeededGenerator) -> SwarmAction {
    var rest = generator.below(total)
    for action in SwarmAction.allCases {
      rest -= shares[action] ?? 0
      if rest < 0 { return action }
    }
    return .comment
  }
}
