package import LocalPostgres

extension PostgresServer {
  /// Whether PostgreSQL is installed, for `.enabled(if:)`; where it is not, that is printed.
  package static let isInstalled: Bool = {
    if programs == nil {
      print(
        "SKIPPED: PostgreSQL is not installed (apt-get install postgresql): its tests do not run"
      )
    }
    return programs != nil
  }()

  /// One for all tests that only need databases of their own.
  package static let shared = Result { try PostgresServer() }
}
