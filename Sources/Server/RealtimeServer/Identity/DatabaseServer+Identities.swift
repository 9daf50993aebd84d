extension DatabaseServer {
  /// The server's own sign-in: who can have accounts, how long tokens count, who administers.
  ///
  /// An emulator has accounts of its own kind: its tokens carry no signature and are all believed.
  public struct Identities: Sendable {
    /// How long a user's token counts before it has to be renewed: from a second to a day.
    public var tokenLifetime = Duration.seconds(3_600)
    /// The secret that makes whoever shows it an administrator: 32 bytes or more; nil for none.
    public var administratorKey: String?
    /// Whether people can make accounts for themselves; otherwise only administrators make them.
    public var allowsSignUp = true

    /// Opens where accounts and keys rest, by default in memory; the server closes it when it stops.
    package var openStore: @Sendable () throws -> any IdentityStore = { MemoryIdentityStore() }
    /// Changes further settings, such as how much work a password is.
    package var adjust: @Sendable (inout IdentitySettings) -> Void = { _ in }

    /// Makes the usual settings.
    public init() {}
  }
}

extension DatabaseServer.Identities {
  private static let lifetimes = Duration.seconds(1)...Duration.seconds(86_400)

  func validate() throws(DatabaseServerError) {
    guard Self.lifetimes.contains(tokenLifetime) else {
      throw DatabaseServerError(
        .invalidOptions,
        "tokens must count for a second to a day, not \(tokenLifetime)"
      )
    }
    if let administratorKey, AdministratorKey(administratorKey) == nil {
      throw DatabaseServerError(
        .invalidOptions,
        "the administrators' key must be \(AdministratorKey.minimumBytes) or more visible characters"
      )
    }
  }

  /// What the service of these identities is told.
  func settings(isEmulator: Bool) -> IdentitySettings {
    var settings = isEmulator ? IdentitySettings.emulator : IdentitySettings()
    settings.tokenLifetime = tokenLifetime.components.seconds
    settings.administratorKey = administratorKey.flatMap { AdministratorKey($0) }
    settings.allowsSignUp = allowsSignUp
    adjust(&settings)
    return settings
  }
}
