internal import BlogChecker

/// What a run of a swarm is to be: equal settings make an equal plan.
package struct SwarmSettings: Hashable, Codable, Sendable {
  /// How many users there are.
  package var users = 10
  /// How long the storm lasts.
  package var seconds: Double = 10
  /// Where all choices come from.
  package var seed: UInt64 = 1
  /// What the users do.
  package var mix = SwarmMix.usual
  /// How many actions arrive in a second, over all users.
  package var rate: Double = 20
  /// What is done to them.
  package var faults: [FaultKind] = []
  /// How stars are given.
  package var stars = StarStrategy.increment
  /// How many posts everybody has to do with.
  package var hotPosts = 5
  /// How many users share a process.
  package var usersPerProcess = 1
  /// How many users are here for others to see, and tell everything that they see.
  package var watchers = 16

  /// Who the users are at a database that knows them by other names than the swarm does.
  ///
  /// Where there are any, posts of others are left alone.
  package var uids: [String] = []

  /// Makes the usual settings.
  package init() {}

  /// How many processes the users need.
  package var processes: Int { (users + usersPerProcess - 1) / usersPerProcess }

  /// The users of a process, counted from 0.
  package func users(ofProcess process: Int) -> Range<Int> {
    let first = process * usersPerProcess
    return first..<min(users, first + usersPerProcess)
  }

  /// Who a user is; beyond the last one it is somebody whom nobody is.
  package func uid(_ user: Int) -> String {
    uids.indices.contains(user) ? uids[user] : Self.name(user)
  }

  /// The name of a user that others see.
  package static func name(_ user: Int) -> String { "swarm\(user)" }

  /// The title of a post that everybody has to do with.
  package static func hotTitle(_ number: Int) -> String { "hot \(number)" }
}
