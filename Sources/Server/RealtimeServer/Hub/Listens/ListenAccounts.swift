internal import RealtimeCore

/// The listens of each peer, and what they cost everybody else.
///
/// A cost of one stands for a push of each commit that concerns the listen. It is charged to the
/// user who asks for the listen, over all connections, and returned when the listen ends.
struct ListenAccounts: Sendable {
  enum Payer: Hashable, Sendable {
    /// Those from one network who have not signed in, or only anonymously: anybody can be any number
    /// of them.
    case guests(network: String?)
    case user(String)

    /// Nil for administrators, who are not charged.
    init?(_ identity: Identity, from network: String?) {
      if identity == .administrator { return nil }
      let user = identity.isShared ? nil : identity.uid
      self = user.map { .user($0) } ?? .guests(network: network)
    }
  }

  private struct Account: Sendable {
    var charges: [ListenKey: (payer: Payer?, cost: Int)] = [:]
    /// The number of filtered listens at each location.
    var windows: [Path: Int] = [:]
  }

  private var accounts: [PeerID: Account] = [:]
  private var totals: [Payer: Int] = [:]
  /// The total of the guests of all networks.
  private var guestTotal = 0
  private let limits: ServerLimits

  init(_ limits: ServerLimits) {
    self.limits = limits
  }

  /// The number of listens across all peers.
  ///
  /// - Complexity: O(peers)
  var count: Int { accounts.values.reduce(0) { $0 + $1.charges.count } }

  var peers: some Sequence<PeerID> { accounts.keys }

  func count(of peer: PeerID) -> Int { accounts[peer]?.charges.count ?? 0 }

  func keys(of peer: PeerID) -> [ListenKey] { accounts[peer].map { Array($0.charges.keys) } ?? [] }

  func contains(_ key: ListenKey, of peer: PeerID) -> Bool {
    accounts[peer]?.charges[key] != nil
  }

  /// The number of filtered listens that a peer has at a location.
  func windowCount(of peer: PeerID, at path: Path) -> Int { accounts[peer]?.windows[path] ?? 0 }

  /// Whether a user may have a listen of a certain cost in addition to those there are.
  ///
  /// A few listens of the guests of each network are always granted, so that a crowd that has used
  /// up the budget it shares with others does not shut them out.
  func canAfford(_ cost: Int, payer: Payer?) -> Bool {
    guard let payer else { return true }
    let total = totals[payer, default: 0] + cost
    return switch payer {
    case .user: total <= limits.listensPerUser
    case .guests: guestTotal + cost <= limits.guestListens || total <= limits.freeListens
    }
  }

  /// Adds a listen that the peer does not have yet.
  mutating func add(_ key: ListenKey, cost: Int, of peer: PeerID, payer: Payer?) {
    accounts[peer, default: Account()].charges[key] = (payer, cost)
    if !key.query.loadsAllData { accounts[peer]?.windows[key.path, default: 0] += 1 }
    guard let payer else { return }
    totals[payer, default: 0] += cost
    if case .guests = payer { guestTotal += cost }
  }

  /// Removes a listen, and returns whether there was one.
  mutating func remove(_ key: ListenKey, of peer: PeerID) -> Bool {
    guard let charge = accounts[peer]?.charges.removeValue(forKey: key) else { return false }
    if let windows = accounts[peer]?.windows[key.path] {
      accounts[peer]?.windows[key.path] = windows > 1 ? windows - 1 : nil
    }
    if accounts[peer]?.charges.isEmpty == true { accounts[peer] = nil }
    if let payer = charge.payer, let total = totals[payer] {
      totals[payer] = total > charge.cost ? total - charge.cost : nil
      if case .guests = payer { guestTotal -= charge.cost }
    }
    return true
  }
}
