import RealtimeServer

enum Schema {
  /// The key of the lock held while the schema is created: any number that no other program uses.
  private static let lock: Int64 = 0x4872_7468

  /// Ensures that the schema exists and has the version of this program.
  ///
  /// Several processes may call this at the same time: one waits for the other.
  ///
  /// - Throws: `StoreError` when another version of this program created the schema, or when it is
  ///   missing and may not be created, or ``PostgresFailure``.
  static func prepare(
    _ connection: PostgresConnection,
    at origin: String,
    mayChange: Bool
  ) throws {
    guard try !exists(connection, at: origin) else { return }
    guard mayChange else {
      throw StoreError(
        .failed,
        description:
          "\(origin): it has no schema hearth, which \"hearth serve\" and \"hearth import\" make"
      )
    }
    try connection.transact(within: .seconds(30)) {
      try connection.query("SELECT set_config('lock_timeout', '30s', true)", within: .seconds(5))
      try connection.query(
        "SELECT pg_advisory_xact_lock($1)",
        with: [.integer(lock)],
        within: .seconds(35)
      )
      guard try !exists(connection, at: origin) else { return }
      try connection.run("CREATE SCHEMA IF NOT EXISTS hearth", within: .seconds(5))
      try connection.runScript(SchemaStatements.creation, within: .seconds(600))
    }
  }

  /// Whether the schema exists.
  ///
  /// - Throws: `StoreError` when it has another version, or belongs to another program.
  private static func exists(_ connection: PostgresConnection, at origin: String) throws -> Bool {
    // Not `to_regclass`: within a transaction it keeps reporting a table as missing, while another
    // program may create the table while this one waits for the lock.
    let known = try connection.query(
      """
      SELECT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n
        ON n.oid = c.relnamespace WHERE n.nspname = 'hearth' AND c.relname = 'format')
      """,
      within: .seconds(10)
    )
    guard known.bool(0, column: 0) else { return false }
    let rows = try connection.query("SELECT version FROM hearth.format", within: .seconds(10))
    guard rows.count == 1 else {
      throw StoreError.damaged(origin, because: "the schema hearth belongs to another program")
    }
    let version = Int(rows.integer(0, column: 0))
    guard version == SchemaStatements.version else {
      throw StoreError(
        .damaged,
        description:
          "\(origin): the schema hearth was made by another version of this program (format"
          + " \(version), here \(SchemaStatements.version))"
      )
    }
    return true
  }
}
