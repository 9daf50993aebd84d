/// What signing in has brought.
public struct AuthDataResult: Sendable {
  /// Who is signed in.
  public let user: User
  /// What else the server has told.
  public let additionalUserInfo: AdditionalUserInfo?
}
