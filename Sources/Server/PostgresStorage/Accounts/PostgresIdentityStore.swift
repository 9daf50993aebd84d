import Foundation
package import RealtimeCore
package import RealtimeServer

/// The accounts of all servers that share a PostgreSQL, with the keys that sign their tokens.
///
/// Anyone who can read the tables can sign in as any user, so only the role of the servers should
/// be allowed to.
package final class PostgresIdentityStore: MovableIdentityStore {
  private let port: PostgresPort
  private let origin: String
  private let options: PostgresStoreOptions

  /// Opens the accounts, and creates their tables if they are missing.
  ///
  /// - Parameters:
  ///   - address: The address of PostgreSQL.
  ///   - options: How to use it.
  /// - Throws: `StoreError` when PostgreSQL cannot be reached.
  package init(
    at address: PostgresAddress,
    options: PostgresStoreOptions = PostgresStoreOptions()
  ) throws(StoreError) {
    port = PostgresPort(to: address, options: options)
    origin = address.description
    self.options = options
    try port.prepare()
  }

  // MARK: Reading

  private func bytes(_ text: String) -> PostgresValue { IdentityStatements.bytes(text) }

  package func account(_ uid: String, in database: String) throws -> Account? {
    let rows = try port.query(
      "SELECT body FROM hearth.accounts WHERE database = $1 AND uid = $2",
      with: [bytes(database), bytes(uid)]
    )
    return rows.count == 0 ? nil : try account(rows, row: 0)
  }

  package func account(of email: EmailAddress, in database: String) throws -> Account? {
    let rows = try port.query(
      "SELECT body FROM hearth.accounts WHERE database = $1 AND email = $2",
      with: [bytes(database), bytes(email.text)]
    )
    return rows.count == 0 ? nil : try account(rows, row: 0)
  }

  package func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account] {
    let rows = try port.query(
      "SELECT body FROM hearth.accounts WHERE database = $1 AND uid > $2 ORDER BY uid LIMIT $3",
      with: [bytes(database), bytes(uid ?? ""), .integer(Int64(limit))]
    )
    return try (0..<rows.count).map { try account(rows, row: $0) }
  }

  package func session(ofToken hash: [UInt8]) throws -> RefreshRecord? {
    let rows = try port.query(
      """
      SELECT s.body, t.replaced FROM hearth.tokens t JOIN hearth.sign_ins s ON s.id = t.sign_in
      WHERE t.hash = $1
      """,
      with: [.bytes(hash)]
    )
    guard rows.count > 0 else { return nil }
    return RefreshRecord(
      session: try session(rows, row: 0, column: 0),
      replaced: rows.isNull(0, column: 1) ? nil : rows.integer(0, column: 1)
    )
  }

  package func code(_ hash: [UInt8]) throws -> OneTimeCode? {
    let rows = try port.query("SELECT body FROM hearth.codes WHERE hash = $1", with: [.bytes(hash)])
    return rows.count == 0 ? nil : try code(rows, row: 0, column: 0)
  }

  package func revocations(since second: Int64) throws -> [TokenAuthority.Revocation] {
    let rows = try port.query(
      "SELECT database, uid, valid_since FROM hearth.revocations WHERE valid_since > $1",
      with: [.integer(second)]
    )
    return (0..<rows.count).map { row in
      TokenAuthority.Revocation(
        database: rows.text(row, column: 0),
        uid: rows.text(row, column: 1),
        validSince: rows.integer(row, column: 2)
      )
    }
  }

  package func secret(_ file: SecretFile) throws -> JSONValue? {
    let rows = try port.query(
      "SELECT body FROM hearth.secrets WHERE name = $1",
      with: [.text(file.rawValue)]
    )
    return rows.count == 0 ? nil : try json(rows, row: 0, column: 0)
  }

  // MARK: Decoding

  private func json(_ rows: PostgresRows, row: Int, column: Int) throws(StoreError) -> JSONValue {
    guard let json = try? JSONParser.parse(rows.bytes(row, column: column)) else {
      throw .damaged(origin, because: "an account row cannot be read")
    }
    return json
  }

  private func account(_ rows: PostgresRows, row: Int) throws(StoreError) -> Account {
    guard let account = Account(json: try json(rows, row: row, column: 0)) else {
      throw .damaged(origin, because: "an account cannot be read")
    }
    return account
  }

  private func session(
    _ rows: PostgresRows,
    row: Int,
    column: Int
  ) throws(StoreError) -> SignInSession {
    guard let session = SignInSession(json: try json(rows, row: row, column: column)) else {
      throw .damaged(origin, because: "a session cannot be read")
    }
    return session
  }

  private func code(
    _ rows: PostgresRows,
    row: Int,
    column: Int
  ) throws(StoreError) -> OneTimeCode {
    guard let code = OneTimeCode(json: try json(rows, row: row, column: column)) else {
      throw .damaged(origin, because: "a code cannot be read")
    }
    return code
  }

  // MARK: Writing

  package func apply(_ changes: [IdentityChange]) throws {
    let limit = options.leaseLimit
    try port.transact { connection throws(PostgresFailure) in
      let statements = IdentityStatements(connection, within: limit)
      for change in changes { try statements.apply(change) }
    }
  }

  package func setSecret(_ file: SecretFile, to json: JSONValue) throws {
    let limit = options.leaseLimit
    try port.transact { connection throws(PostgresFailure) in
      try IdentityStatements(connection, within: limit).setSecret(file, to: json)
    }
  }

  package func addSecret(_ file: SecretFile, holding json: JSONValue) throws -> JSONValue {
    _ = try port.query(
      "INSERT INTO hearth.secrets (name, body) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      with: [.text(file.rawValue), bytes(json.text)]
    )
    guard let known = try secret(file) else {
      throw StoreError(
        .failed,
        description: "\(origin): \(file.rawValue) was removed while being created"
      )
    }
    return known
  }

  package func close() throws { port.close() }

  // MARK: Moving

  package func contents() throws -> IdentityContents {
    var contents = IdentityContents()
    let accounts = try port.query("SELECT body FROM hearth.accounts ORDER BY database, uid")
    contents.accounts = try (0..<accounts.count).map { try account(accounts, row: $0) }
    let sessions = try port.query("SELECT body, used, id FROM hearth.sign_ins ORDER BY number")
    for row in 0..<sessions.count {
      let tokens = try port.query(
        "SELECT hash, replaced FROM hearth.tokens WHERE sign_in = $1 ORDER BY number",
        with: [.bytes(sessions.bytes(row, column: 2))]
      )
      contents.sessions.append(
        IdentityContents.SignIn(
          session: try session(sessions, row: row, column: 0),
          used: sessions.integer(row, column: 1),
          tokens: (0..<tokens.count).map {
            IdentityContents.Token(
              hash: tokens.bytes($0, column: 0),
              replaced: tokens.isNull($0, column: 1) ? nil : tokens.integer($0, column: 1)
            )
          }
        )
      )
    }
    let codes = try port.query("SELECT hash, body FROM hearth.codes")
    for row in 0..<codes.count {
      contents.codes[codes.bytes(row, column: 0)] = try code(codes, row: row, column: 1)
    }
    contents.revocations = try revocations(since: .min)
    for file in SecretFile.allCases { contents.secrets[file] = try secret(file) }
    return contents
  }

  package func restore(_ contents: IdentityContents) throws {
    guard try self.contents() == IdentityContents() else {
      throw StoreError(.failed, description: "\(origin): it already has accounts or keys")
    }
    let limit = options.leaseLimit
    try port.transact { connection throws(PostgresFailure) in
      let statements = IdentityStatements(connection, within: limit)
      for account in contents.accounts { try statements.apply(.save(account)) }
      for session in contents.sessions {
        try statements.add(session.session, used: session.used)
        for token in session.tokens { try statements.add(token, to: session.session.id) }
      }
      for (hash, code) in contents.codes { try statements.apply(.addCode(code, hash: hash)) }
      for note in contents.revocations { try statements.apply(.revoke(note)) }
      for (file, json) in contents.secrets { try statements.setSecret(file, to: json) }
    }
  }
}
