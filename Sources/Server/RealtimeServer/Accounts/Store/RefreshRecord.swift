/// What is known of a refresh token.
package struct RefreshRecord: Hashable, Sendable {
  /// The session that it continues.
  package let session: SignInSession
  /// When another one took its place, in milliseconds since 1970, or nil while it is the newest.
  package let replaced: Int64?

  /// Makes a record.
  package init(session: SignInSession, replaced: Int64?) {
    self.session = session
    self.replaced = replaced
  }
}
