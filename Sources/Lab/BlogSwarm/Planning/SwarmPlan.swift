private import Foundation

/// Everything that users do and that is done to them, worked out before the start.
///
/// The plan is the same for the same settings. What comes of it is not: processes run as they please.
package struct SwarmPlan: Hashable, Sendable {
  /// How long the posts are written before the storm begins, in microseconds.
  package static let opening: Int64 = 600_000

  /// What users do, in the order of time.
  package let operations: [PlannedOperation]
  /// What is done to them, in the order of time.
  package let faults: [PlannedFault]
  /// When the storm is over, in microseconds since the start.
  package let end: Int64

  private static let arrivalStream: UInt64 = 1
  private static let faultStream: UInt64 = 2

  /// Works a plan out.
  ///
  /// Operations arrive independently of each other, whoever is busy: an open load. A user who cannot
  /// keep up is late, which counts in what is measured.
  ///
  /// - Parameter settings: What the run is to be.
  /// - Complexity: O(operations · log operations)
  package init(_ settings: SwarmSettings) {
    end = Self.opening + Int64(settings.seconds * 1_000_000)
    operations = Self.operations(settings, until: end)
    faults = Self.faults(settings)
  }

  private static func operations(
    _ settings: SwarmSettings,
    until end: Int64
  ) -> [PlannedOperation] {
    var generator = SeededGenerator(seed: settings.seed, stream: arrivalStream)
    var operations = (0..<settings.hotPosts).map { number in
      PlannedOperation(
        at: Int64(number) * opening / 2 / Int64(max(1, settings.hotPosts)),
        user: number % settings.users,
        number: number,
        action: .post,
        target: .hot(number)
      )
    }
    guard settings.rate > 0 else { return operations }
    var time = Double(opening)
    while true {
      // The pauses of arrivals that know nothing of each other.
      time -= log(1 - generator.fraction()) / settings.rate * 1_000_000
      guard time < Double(end) else { return operations }
      let user = generator.below(settings.users)
      let action = settings.mix.pick(using: &generator)
      let isHot = settings.hotPosts > 0 && generator.below(8) > 0
      let choice = generator.below(1 << 16)
      operations.append(
        PlannedOperation(
          at: Int64(time),
          user: user,
          number: operations.count,
          action: action,
          target: isHot && action != .post ? .hot(choice % settings.hotPosts) : .any(choice)
        )
      )
    }
  }

  /// Spreads the faults over the storm, each kind once before any comes again.
  private static func faults(_ settings: SwarmSettings) -> [PlannedFault] {
    guard !settings.faults.isEmpty else { return [] }
    var generator = SeededGenerator(seed: settings.seed, stream: faultStream)
    let span = settings.seconds * 1_000_000
    // Short runs have them close together, long ones every few seconds.
    let pause = max(span * 0.8 / Double(settings.faults.count), min(span, 400_000))
    let step = min(pause, 4_000_000)
    var faults: [PlannedFault] = []
    var round: [FaultKind] = []
    var time = Double(opening) + span * 0.05
    while time < Double(opening) + span * 0.85 {
      if round.isEmpty { round = settings.faults.shuffled(using: &generator) }
      faults.append(
        PlannedFault(
          at: Int64(time),
          lasting: Int64(min(3_000_000, span / 8) * (0.3 + 0.7 * generator.fraction())),
          kind: round.removeLast(),
          process: generator.below(settings.processes),
          strength: generator.below(100)
        )
      )
      time += step * (0.75 + 0.5 * generator.fraction())
    }
    return faults
  }
}
