private import Foundation

/// Everything that users do and every fault, worked out before the start.
///
/// The plan is the same for the same settings. The outcome is not, because processes are scheduled
/// freely.
struct SwarmPlan: Hashable, Sendable {
  /// How long the hot posts are written before the storm begins, in microseconds.
  static let opening: Int64 = 600_000

  /// What users do, in chronological order.
  let operations: [PlannedOperation]
  /// The faults, in chronological order.
  let faults: [PlannedFault]
  /// When the storm is over, in microseconds since the start.
  let end: Int64

  private static let arrivalStream: UInt64 = 1
  private static let faultStream: UInt64 = 2

  /// Works out a plan.
  ///
  /// Operations arrive independently of each other, as an open load. If a user cannot keep up, the
  /// delay counts as latency.
  ///
  /// - Complexity: O(operations · log operations)
  init(_ settings: SwarmSettings) {
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
      // Independent arrivals have exponentially distributed gaps.
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

  /// Spreads the faults over the storm, using each kind once before any repeats.
  private static func faults(_ settings: SwarmSettings) -> [PlannedFault] {
    guard !settings.faults.isEmpty else { return [] }
    var generator = SeededGenerator(seed: settings.seed, stream: faultStream)
    let span = settings.seconds * 1_000_000
    // Short runs have faults close together, long ones every few seconds.
    let pause = max(span * 0.8 / Double(settings.faults.count), min(span, 400_000))
    // Another server takes over only after the duration of a lease.
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
  /// How many microseconds the fault lasts at one of several servers, by a part from 0 to 1.
  fileprivate func lengthAtServers(_ part: Double) -> Int64 {
    let seconds =
      switch self {
      // Longer than a lease, so that another server leads when this one wakes.
      case .freeze: 5.5 + 2.5 * part
      case .partition, .delay: 2 + 5 * part
      case .kill: 2 * part
      case _: 1.5 * part
      }
    return Int64(seconds * 1_000_000)
  }
}

/// Something that a user will do at a certain time.
struct PlannedOperation: Hashable, Sendable {
  enum Target: Hashable, Sendable {
    /// A post that everybody works with.
    case hot(Int)
    /// One of the other posts that the user sees, chosen by this number.
    case any(Int)
  }

  /// When it is due, in microseconds since the start, no matter how busy the user is then.
  let at: Int64
  /// The number of the user, from 0.
  let user: Int
  /// The number of the operation in the whole run.
  let number: Int
  let action: SwarmAction
  let target: Target
}

/// A fault that will be injected into the swarm at a certain time.
struct PlannedFault: Hashable, Sendable {
  /// When it begins, in microseconds since the start.
  let at: Int64
  /// How long it lasts, in microseconds.
  let lasting: Int64
  let kind: FaultKind
  /// The client process that the fault hits, if it hits one.
  let process: Int
  /// The strength of the fault, from 0 to 99.
  let strength: Int

  /// The jump of a clock in milliseconds: up to two hours, forwards or backwards.
  var clockStep: Int64 { Int64(strength - 50) * 144_000 }
}

package enum SwarmAction: String, CaseIterable, Codable, Sendable {
  case post
  case comment
  case star
  case unstar
  case edit
  case delete
  /// Deletes a comment of its own.
  case retract
  /// Adds to a number that others add to as well.
  case count
  /// Tries what the rules refuse: to star as another user, or to edit another user's post.
  case trespass
}

/// A small generator whose whole state is its seed, so that a plan can be reproduced.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator that returns the same numbers for the same seed.
  ///
  /// - Parameters:
  ///   - seed: The seed of a whole run.
  ///   - stream: The purpose of the numbers; different streams of one seed are independent.
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
  mutating func below(_ bound: Int) -> Int {
    Int(next() % UInt64(bound))
  }

  /// Returns a number from 0 up to but not including 1.
  mutating func fraction() -> Double {
    Double(next() >> 11) * 0x1p-53
  }
}
