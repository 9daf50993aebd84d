/// How a server's identities are looked after.
package struct IdentitySettings: Sendable {
  /// Whether the service stands in for the emulator: tokens without signatures, its error codes, its
  /// codes and accounts for everyone to see.
  package var isEmulator = false
  /// How long a token of a user counts, in seconds.
  package var tokenLifetime: Int64 = 3_600
  /// The secret of the administrators, or nil when they have none.
  package var administratorKey: AdministratorKey?
  /// Whether people can make accounts for themselves.
  package var allowsSignUp = true
  /// How much work it is to try a password.
  package var passwordCost = PasswordCost.standard
  /// How many passwords are hashed at once.
  package var passwordThreads = 2
  /// How many more may wait for it.
  package var passwordQueue = 32
  /// How often in a row a wrong password may be tried for one account before each attempt has to wait.
  package var attemptsPerAccount = 10
  /// How long it takes until one more may be tried at once, in milliseconds.
  package var accountPause: Int64 = 60_000
  /// How long an attempt beyond waits before it is looked at, in milliseconds.
  package var accountDelay: Int64 = 5_000
  /// How often in a row somebody may fail, or ask for accounts and codes.
  package var attemptsPerClient = 100
  /// How long it takes until somebody may do so once more, in milliseconds.
  package var clientPause: Int64 = 1_000
  /// How long ago a user may have signed in who changes the address or the password, in seconds.
  package var recentSignIn: Int64 = 300

  /// Makes the settings of a server that people use.
  package init() {}

  /// The settings of a server that stands in for the emulator.
  package static var emulator: IdentitySettings {
    var settings = IdentitySettings()
    settings.isEmulator = true
    settings.passwordCost = .token
    return settings
  }
}
