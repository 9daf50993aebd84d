/// What the server tells of a sign-in.
public struct AdditionalUserInfo: Hashable, Sendable {
  /// How the user has signed in, such as "password".
  public let providerID: String
  /// Whether the account was made by it.
  public let isNewUser: Bool
}
