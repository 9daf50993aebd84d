extension ClientRequest.Authentication {
  /// The `provider` that security rules see for a user at the server's private socket.
  ///
  /// No other sign-in method has this name. It is kept with the writes that such a user schedules
  /// for the end of the connection, so that the same rules decide on them.
  package static let localProvider = "socket"

  /// Makes the authentication of a client at the server's private socket that names its user.
  ///
  /// Every client that can connect there is an administrator, and acts as this user from then on.
  /// The server applies its own rules to such users instead of the rules of the database.
  package init(localUser uid: String) {
    self.init(
      credential: "",
      override: .object(("uid", .string(uid)), ("provider", .string(Self.localProvider)))
    )
  }
}
