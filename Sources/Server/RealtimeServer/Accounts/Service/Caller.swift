/// Who asks the service for something, and about which database.
struct Caller: Sendable {
  /// The database whose accounts are meant.
  let database: String
  /// What attempts are counted under: an address, or a user of this machine.
  let client: String
  /// Whether it is an administrator.
  let isAdministrator: Bool
}
