import Foundation
package import RealtimeCore
package import RealtimeServer

/// The accounts of all servers that share a PostgreSQL, with the keys that sign their tokens.
///
/// Anyone who can read the tables can sign in as any user, so only the role of the servers should
/// be allowed to.
package final class PostgresIdentityStore: MovableIdentityStore {
  private let port: PostgresPort
  /// How long a statement may take.
  private let limit: Duration

  /// Opens the accounts, and creates their tables if they are missing.
  package init(
    at address: PostgresAddress,
    options: PostgresStoreOptions = PostgresStoreOptions()
  ) throws(StoreError) {
    port = PostgresPort(to: address, options: options)
    limit = options.leaseLimit
    try port.prepare()
  }

  // MARK: Reading

  package func read<Value>(
    _ body: (IdentityReader) throws -> Value
  ) throws(StoreError) -> Value {
    try StoreError.translating(at: port.origin) {
      try body(
        IdentityReader(.postgres) { [port] sql, values in
          try port.query(sql, with: values.map { PostgresValue($0) })
        }
      )
    }
  }

  package func secret(_ file: SecretFile) throws -> JSONValue? {
    try secret(
      in: port.query(
        "SELECT body FROM hearth.secrets WHERE name = $1",
        with: [.text(file.rawValue)]
      )
    )
  }

  private func secret(in rows: PostgresRows) throws(StoreError) -> JSONValue? {
    guard rows.count > 0 else { return nil }
    guard let json = try? JSONParser.parse(rows.bytes(0, column: 0)) else {
      throw StoreError.damaged(port.origin, because: "an account row cannot be read")
    }
    return json
  }

  // MARK: Writing

  package func apply(_ changes: [IdentityChange]) throws {
    try port.transact { connection throws(PostgresFailure) in
      let writer = IdentityWriter(connection, within: limit)
      for change in changes {
        if case .save(let account, insteadOf: let old) = change {
          if let old {
            try require(old, through: connection)
          } else {
            try requireDatabase(of: account, through: connection)
          }
        }
        do throws(PostgresFailure) {
          try writer.apply(change)
        } catch {
          // Another server has given away the address or the identifier since it was free.
          throw error.state == "23505" ? Self.overtaken : error
        }
      }
    }
  }

  /// Ensures that no other server has changed an account, nor does until the transaction ends.
  ///
  /// Two may sign a user in at once, or somebody may ask for a new password meanwhile.
  private func require(
    _ account: Account,
    through connection: PostgresConnection
  ) throws(PostgresFailure) {
    var now: Account?
    do {
      let reader = IdentityReader(.postgres) { [limit] sql, values in
        try connection.query(sql, with: values.map { PostgresValue($0) }, within: limit)
      }
      now = try reader.lockedAccount(account.uid, in: account.database)
    } catch {
      throw error as? PostgresFailure ?? PostgresFailure(own: "\(error)")
    }
    now?.lastSignIn = account.lastSignIn
    now?.resetRequested = account.resetRequested
    guard now == account else { throw Self.overtaken }
  }

  /// Ensures that no other server has removed or renamed the database of a new account, nor does until
  /// the transaction ends.
  private func requireDatabase(
    of account: Account,
    through connection: PostgresConnection
  ) throws(PostgresFailure) {
    let rows = try connection.query(
      "SELECT 1 FROM hearth.databases WHERE name = $1 FOR KEY SHARE",
      with: [.text(account.database)],
      within: limit
    )
    guard rows.count > 0 else { throw Self.overtaken }
  }

  private static let overtaken = PostgresFailure(
    "another server has just changed the account, or its database does not exist",
    state: PostgresFailure.overtaken,
    isLost: false
  )

  package func restore(_ contents: IdentityContents) throws {
    guard try self.contents() == IdentityContents() else {
      throw StoreError(.failed, description: "\(port.origin): it already has accounts or keys")
    }
    try port.transact { connection throws(PostgresFailure) in
      try IdentityWriter(connection, within: limit).add(contents)
      for (file, json) in contents.secrets { try set(file, to: json, through: connection) }
    }
  }

  package func setSecret(_ file: SecretFile, to json: JSONValue) throws {
    try port.transact { connection throws(PostgresFailure) in
      try set(file, to: json, through: connection)
    }
  }

  package func changeSecret(
    _ file: SecretFile,
    _ change: (JSONValue?) throws(StoreError) -> JSONValue
  ) throws {
    try port.transact { connection throws(PostgresFailure) in
      // The row need not be there yet, and could not be locked then.
      try connection.run("LOCK TABLE hearth.secrets IN SHARE ROW EXCLUSIVE MODE", within: limit)
      let rows = try connection.query(
        "SELECT body FROM hearth.secrets WHERE name = $1",
        with: [.text(file.rawValue)],
        within: limit
      )
      let json: JSONValue
      do throws(StoreError) {
        json = try change(try secret(in: rows))
      } catch {
        throw PostgresFailure(own: error.description)
      }
      try set(file, to: json, through: connection)
    }
  }

  private func set(
    _ file: SecretFile,
    to json: JSONValue,
    through connection: PostgresConnection
  ) throws(PostgresFailure) {
    try connection.query(
      """
      INSERT INTO hearth.secrets (name, body) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET body = excluded.body
      """,
      with: [.text(file.rawValue), .bytes(Array(json.text.utf8))],
      within: limit
    )
  }

  package func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue {
    _ = try port.query(
      "INSERT INTO hearth.secrets (name, body) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      with: [.text(file.rawValue), .bytes(Array(json.text.utf8))]
    )
    guard let known = try secret(file) else {
      throw StoreError(
        .failed,
        description: "\(port.origin): \(file.rawValue) was removed while being created"
      )
    }
    return known
  }

  package func close() throws { port.close() }
}

extension IdentityWriter<PostgresFailure> {
  init(_ connection: PostgresConnection, within limit: Duration = PostgresConnection.patience) {
    self.init(.postgres) { sql, values throws(PostgresFailure) in
      try connection.query(sql, with: values.map { PostgresValue($0) }, within: limit)
    }
  }
}

extension PostgresRows: IdentityRows {}

extension PostgresValue {
  fileprivate init(_ value: IdentityValue) {
    self =
      switch value {
      case .integer(let number): .integer(number)
      case .bytes(let bytes): .bytes(bytes)
      case .noBytes: .noBytes
      }
  }
}
