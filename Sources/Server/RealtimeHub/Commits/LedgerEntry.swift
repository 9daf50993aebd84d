/// Up to where the writes of one client have been dealt with.
package struct LedgerEntry: Sendable, Equatable {
  /// Whose the writes are; only they are told what became of them.
  package var owner: WriteOwner
  /// The client of the ``WriteKey``s.
  package var client: String
  /// The highest number that has been applied; a negative one stands for no entry at all.
  package var upTo: Int64
  /// The writes below that were not applied, and why.
  package var refused: RefusedWrites
  /// When the client last wrote, in milliseconds since 1970.
  package var lastSeen: Int64

  /// Makes an entry, by default one of a client that has not signed in.
  package init(
    owner: WriteOwner = .bearer,
    client: String,
    upTo: Int64,
    refused: RefusedWrites = [:],
    lastSeen: Int64
  ) {
    self.owner = owner
    self.client = client
    self.upTo = upTo
    self.refused = refused
    self.lastSeen = lastSeen
  }

  /// What no other entry has.
  package var name: LedgerName { LedgerName(owner: owner, client: client) }
}

/// Whose an entry of the ledger is, and which of the owner's clients made the writes.
package struct LedgerName: Hashable, Comparable, Sendable {
  /// Whose it is.
  package let owner: WriteOwner
  /// The client of the ``WriteKey``s.
  package let client: String

  /// Makes a name.
  package init(owner: WriteOwner, client: String) {
    self.owner = owner
    self.client = client
  }

  package static func < (left: LedgerName, right: LedgerName) -> Bool {
    (left.owner, left.client) < (right.owner, right.client)
  }
}

/// Whose keyed writes are, which decides who can ask what became of them.
package enum WriteOwner: Hashable, Comparable, Sendable {
  /// Whoever names the client: it was remembered before there were owners.
  case unknown
  /// Whoever names the client, as nobody else has learned that name; the owner of what was written
  /// by somebody who had not signed in.
  case bearer
  /// Whoever may do everything.
  case administrator
  /// A signed-in user.
  case user(String)

  /// Whom the writes of somebody belong to.
  init(_ identity: Identity) {
    switch identity {
    case .administrator: self = .administrator
    case .user: self = identity.uid.map { .user($0) } ?? .bearer
    }
  }

  /// What a store keeps.
  package var text: String {
    switch self {
    case .unknown: ""
    case .bearer: "b"
    case .administrator: "a"
    case .user(let uid): "u" + uid
    }
  }

  /// Reads what a store has kept; nil when it is none of what ``text`` gives.
  package init?(text: String) {
    switch text {
    case "": self = .unknown
    case "b": self = .bearer
    case "a": self = .administrator
    default:
      guard text.first == "u" else { return nil }
      self = .user(String(text.dropFirst()))
    }
  }
}

/// Names one write for good, together with whose it is.
struct LedgerKey: Hashable, Sendable {
  let name: LedgerName
  /// The number of the ``WriteKey``.
  let number: Int64
}
