package import HearthLab
package import Testing

extension PostgresServer {
  /// Whether PostgreSQL is installed; prints a message if it is not.
  package static let isInstalled: Bool = {
    if programs == nil {
      print(
        "SKIPPED: PostgreSQL is not installed (apt-get install postgresql): its tests do not run"
      )
    }
    return programs != nil
  }()

  /// One server for all tests that only need their own databases.
  package static let shared = Result { try PostgresServer() }
}

extension Trait where Self == ConditionTrait {
  /// Leaves tests out where PostgreSQL is not installed.
  package static var needsPostgres: Self { .enabled(if: PostgresServer.isInstalled) }
}
