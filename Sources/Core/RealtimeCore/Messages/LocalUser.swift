extension ClientRequest.Authentication {
  /// What the rules see as the `provider` of somebody at the private socket of a server.
  ///
  /// No other way to sign in has this name. It stays with what such a user schedules for the end of a
  /// connection, so that the same rules are asked then.
  package static let localProvider = "socket"

  /// Someone at the private socket of a server who says who they are.
  ///
  /// Whoever may connect there is an administrator, and acts as this user from then on. The server
  /// asks its rules for such users, and not those of the database.
  package init(localUser uid: String) {
    self.init(
      credential: "",
      override: .object(("uid", .string(uid)), ("provider", .string(Self.localProvider)))
    )
  }
}
