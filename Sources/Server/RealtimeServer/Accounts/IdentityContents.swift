package import RealtimeCore

/// The complete contents of a store of accounts, for moving them to another store.
package struct IdentityContents: Sendable, Equatable {
  /// A session with its tokens.
  package struct SignIn: Sendable, Equatable {
    package var session: SignInSession
    /// When it was last continued, in milliseconds since 1970.
    package var used: Int64
    /// Its tokens, oldest first.
    package var tokens: [Token]
  }

  /// A refresh token, by its hash.
  package struct Token: Sendable, Equatable {
    package var hash: [UInt8]
    /// When another token replaced it, in milliseconds since 1970; nil while it is the newest.
    package var replaced: Int64?
  }

  package var accounts: [Account] = []
  /// The sessions, oldest first.
  package var sessions: [SignIn] = []
  /// The codes by their hashes.
  package var codes: [[UInt8]: OneTimeCode] = [:]
  package var revocations: [TokenAuthority.Revocation] = []
  package var secrets: [SecretFile: JSONValue] = [:]

  package init() {}
}
