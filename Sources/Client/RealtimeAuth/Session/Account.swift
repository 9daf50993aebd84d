internal import RealtimeCore

/// Someone who is signed in: what is known of them, and their tokens.
struct Account: Hashable, Sendable {
  /// What others may know of a user.
  struct Profile: Hashable, Sendable {
    var email: String?
    var displayName: String?
    var photoURL: String?
    var isEmailVerified = false
    var isAnonymous = false
  }

  var uid: String
  var profile = Profile()
  var tokens: Tokens

  /// The proofs of a user; none of them must be logged.
  struct Tokens: Hashable, Sendable {
    /// What the database and the account endpoints take.
    var idToken: String
    /// What a new ID token is given for.
    var refreshToken: String
    /// When the ID token ends by the clock of this machine, in milliseconds since 1970.
    var expires: Int64
    /// How long it lives from its issue on, in milliseconds.
    var lifetime: Int64

    /// When it should be replaced: five minutes before its end, or at half its life.
    var refreshTime: Int64 { expires - min(Self.margin, lifetime / 2) }

    private static let margin: Int64 = 5 * 60 * 1_000
  }
}

// A token in a log would be as good as a password there.
extension Account.Tokens: CustomStringConvertible, CustomReflectable {
  var description: String { "tokens until \(expires)" }
  var customMirror: Mirror { Mirror(self, children: ["expires": expires]) }
}
