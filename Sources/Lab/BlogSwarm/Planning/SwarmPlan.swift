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
  /// Operations arrive independently of each other, as an open load. If a user cannot keep up, the delay
  /// counts as latency.
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
    // Another server needs the time of a lease to take over.
    let step = min(pause, settings.servers > 1 ? 8_000_000 : 4_000_000)
    var faults: [PlannedFault] = []
    var round: [FaultKind] = []
    var time = Double(opening) + span * 0.05
    while time < Double(opening) + span * 0.85 {
      if round.isEmpty { round = settings.faults.shuffled(using: &generator) }
      let kind = round.removeLast()
      let length = generator.fraction()
      faults.append(
        PlannedFault(
          at: Int64(time),
          lasting: settings.servers > 1 && kind.concernsSeveralServers
            ? kind.lengthAtServers(length)
            : Int64(min(3_000_000, span / 8) * (0.3 + 0.7 * length)),
          kind: kind,
          process: generator.below(settings.processes),
          strength: generator.below(100)
        )
      )
      time += step * (0.75 + 0.5 * generator.fraction())
    }
    return faults
  }
}

extension FaultKind {
  /// How long the fault lasts that is done to one of several servers.
  ///
  /// - Parameter part: From 0 to 1.
  /// - Returns: Microseconds.
  fileprivate func lengthAtServers(_ part: Double) -> Int64 {
    let seconds =
      switch self {
      // Longer than a lease, so that another server leads when it wakes.
      case .freeze: 5.5 + 2.5 * part
      case .partition: 2 + 5 * part
      case .kill: 2 * part
      case _: 1.5 * part
      }
    return Int64(seconds * 1_000_000)
  }
}

/// Something that a user will do at a certain time.
package struct PlannedOperation: Hashable, Sendable {
  /// What it is done to.
  package enum Target: Hashable, Sendable {
    /// A post that everybody has to do with.
    case hot(Int)
    /// One of the other posts that the user sees, chosen by this number.
    case any(Int)
  }

  /// When it arrives, in microseconds since the start; how busy the user is then does not matter.
  package let at: Int64
  /// Who does it, counted from 0.
  package let user: Int
  /// The number of the operation in the whole run.
  package let number: Int
  /// What is done.
  package let action: SwarmAction
  /// What it is done to.
  package let target: Target
}

/// Something that will be done to the swarm at a certain time.
package struct PlannedFault: Hashable, Sendable {
  /// When it begins, in microseconds since the start.
  package let at: Int64
  /// How long it lasts, in microseconds.
  package let lasting: Int64
  /// What is done.
  package let kind: FaultKind
  /// The process of clients that it is done to, where it is done to one.
  package let process: Int
  /// How strong it is, from 0 to 99.
  package let strength: Int

  /// The jump of a clock in milliseconds: up to two hours, forwards or backwards.
  package var clockStep: Int64 { Int64(strength - 50) * 144_000 }
}

/// What a user of a swarm does.
package enum SwarmAction: String, CaseIterable, Codable, Sendable {
  /// Writes a post.
  case post
  /// Writes a comment.
  case comment
  /// Stars a post.
  case star
  /// Takes a star back.
  case unstar
  /// Changes a post of its own.
  case edit
  /// Deletes a post of its own.
  case delete
  /// Deletes a comment of its own.
  case retract
  /// Adds to a number that others add to as well.
  case count
  /// Tries what the rules refuse: to star as someone else, or to change the post of another.
  case trespass
}

/// A small generator whose whole state is its seed, so that a run can be planned again.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Makes a generator that gives the same numbers for the same seed.
  ///
  /// - Parameters:
  ///   - seed: The seed of a whole run.
  ///   - stream: What the numbers are for; different streams of one seed have nothing in common.
  package init(seed: UInt64, stream: UInt64 = 0) {
    state = seed &+ stream &* 0xD1B5_4A32_D192_ED03
    state = next()
  }

  /// Returns the next 64 bits.
  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number from 0 up to but not including the bound, which is at least 1.
  package mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// Returns a number from 0 up to but not including 1.
  package mutating func fraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
