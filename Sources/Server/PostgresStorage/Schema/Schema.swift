import RealtimeServer

/// Creates the schema, and migrates an older one.
enum Schema {
  /// The key of the lock held while the schema is created: any number that no other program uses.
  private static let lock: Int64 = 0x4872_7468

  /// Ensures that the schema exists and has the version of this program.
  ///
  /// Several processes may call this at the same time: one waits for the other.
  ///
  /// - Throws: `StoreError` when a newer program created the schema, or when it is missing or older
  ///   and may not be changed, or ``PostgresFailure``.
  static func prepare(
    _ connection: PostgresConnection,
    at origin: String,
    mayChange: Bool
  ) throws {
    let found = try version(connection, at: origin)
    if found == SchemaStatements.migrations.count { return }
    guard mayChange else {
      let reason =
        found == 0
        ? "it has no schema hearth, which \"hearth serve\" and \"hearth import\" make"
        : "the schema hearth has format \(found), and this program needs"
          + " \(SchemaStatements.migrations.count): stop all servers, and start one of this version"
      throw StoreError(.failed, description: "\(origin): \(reason)")
    }
    try connection.run("BEGIN", within: .seconds(5))
    do {
      try connection.query("SELECT set_config('lock_timeout', '30s', true)", within: .seconds(5))
      try connection.query(
        "SELECT pg_advisory_xact_lock($1)",
        with: [.integer(lock)],
        within: .seconds(35)
      )
      let version = try version(connection, at: origin)
      if version == 0 {
        try connection.run("CREATE SCHEMA IF NOT EXISTS hearth", within: .seconds(5))
      }
      for migration in SchemaStatements.migrations.dropFirst(version) {
        try connection.runScript(migration, within: .seconds(600))
      }
      try connection.query(
        "UPDATE hearth.format SET version = $1",
        with: [.integer(Int64(SchemaStatements.migrations.count))],
        within: .seconds(5)
      )
      try connection.run("COMMIT", within: .seconds(30))
    } catch {
      if connection.isOpen { try? connection.run("ROLLBACK", within: .seconds(5)) }
      throw error
    }
  }

  /// The version of the schema; 0 if it does not exist.
  private static func version(_ connection: PostgresConnection, at origin: String) throws -> Int {
    // Not `to_regclass`: within a transaction it keeps reporting a table as missing, while another
    // program may create the table while this one waits for the lock.
    let known = try connection.query(
      """
      SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
        ON n.oid = c.relnamespace WHERE n.nspname = 'hearth' AND c.relname = 'format')
      """,
      within: .seconds(10)
    )
    guard known.bool(0, column: 0) else { return 0 }
    let rows = try connection.query("SELECT version FROM hearth.format", within: .seconds(10))
    guard rows.count == 1 else {
      throw StoreError.damaged(origin, because: "the schema hearth belongs to another program")
    }
    let version = Int(rows.integer(0, column: 0))
    guard version <= SchemaStatements.migrations.count else {
      throw StoreError(
        .damaged,
        description:
          "\(origin): the schema hearth was made by a newer version of this program (format"
          + " \(version), here \(SchemaStatements.migrations.count))"
      )
    }
    return version
  }
}
