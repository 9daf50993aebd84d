internal import RealtimeCore

/// A parameter of a statement about accounts.
package enum IdentityValue {
  case integer(Int64)
  case bytes([UInt8])
  /// The null of a column of bytes.
  case noBytes

  /// Text in the form the tables keep: bytes, which are compared exactly.
  fileprivate static func bytes(_ text: String) -> IdentityValue { .bytes(Array(text.utf8)) }
}

/// The rows that a statement about accounts has returned.
package protocol IdentityRows {
  var count: Int { get }
  func isNull(_ row: Int, column: Int) throws -> Bool
  func integer(_ row: Int, column: Int) throws -> Int64
  func bytes(_ row: Int, column: Int) throws -> [UInt8]
}

/// What differs between the databases that hold tables of accounts.
///
/// In all statements, the first mention of each parameter comes after that of the one before: SQLite
/// numbers them so.
package struct IdentityDialect: Sendable {
  /// What the names of the tables begin with.
  fileprivate let prefix: String
  /// The name of a session, as in the name of its table and in that of the column of its tokens.
  fileprivate let session: String
  /// The column by which sessions that were used at the same time are in the order of their starts.
  fileprivate let sessionOrder: String
  /// What stands before an offset.
  fileprivate let noLimit: String

  fileprivate var sessions: String { "\(prefix)\(session)s" }

  /// The tables in a file of SQLite.
  package static let sqlite = IdentityDialect(
    prefix: "",
    session: "session",
    sessionOrder: "rowid",
    noLimit: "LIMIT -1"
  )
  /// The tables in the schema `hearth` of PostgreSQL.
  package static let postgres = IdentityDialect(
    prefix: "hearth.",
    session: "sign_in",
    sessionOrder: "number",
    noLimit: ""
  )
}

/// Changes the tables of accounts, within the caller's transaction.
package struct IdentityWriter<Failure: Error> {
  private let dialect: IdentityDialect
  private let execute: (_ sql: String, _ values: [IdentityValue]) throws(Failure) -> Void

  /// Makes a writer that changes the tables by executing statements.
  package init(
    _ dialect: IdentityDialect,
    execute: @escaping (_ sql: String, _ values: [IdentityValue]) throws(Failure) -> Void
  ) {
    self.dialect = dialect
    self.execute = execute
  }

  private var prefix: String { dialect.prefix }
  private var sessions: String { dialect.sessions }

  package func apply(_ change: IdentityChange) throws(Failure) {
    switch change {
    case .save(let account, insteadOf: let old): try save(account, isNew: old == nil)
    case .delete(let uid, let database):
      for table in ["\(prefix)accounts", sessions, "\(prefix)codes"] {
        try execute(
          "DELETE FROM \(table) WHERE database = $1 AND uid = $2",
          [.bytes(database), .bytes(uid)]
        )
      }
    case .clear(let database):
      for table in ["\(prefix)accounts", sessions, "\(prefix)codes"] {
        try execute("DELETE FROM \(table) WHERE database = $1", [.bytes(database)])
      }
    case .rename(let database, let name):
      try execute("DELETE FROM \(prefix)codes WHERE database = $1", [.bytes(database)])
      for table in ["\(prefix)accounts", sessions] {
        // The body keeps the old name, which nobody reads.
        try execute(
          "UPDATE \(table) SET database = $1 WHERE database = $2",
          [.bytes(name), .bytes(database)]
        )
      }
    case .begin(let session, let token): try begin(session, token: token)
    case .replace(let token, let successor, let time): try replace(token, by: successor, at: time)
    case .end(let session): try execute("DELETE FROM \(sessions) WHERE id = $1", [.bytes(session)])
    case .addCode(let code, let hash):
      try execute(
        """
        INSERT INTO \(prefix)codes (hash, database, uid, expires, body) VALUES ($1, $2, $3, $4, $5)
        """,
        [
          .bytes(hash), .bytes(code.database), .bytes(code.uid), .integer(code.expires),
          .bytes(code.json.text),
        ]
      )
    case .removeCode(let hash):
      try execute("DELETE FROM \(prefix)codes WHERE hash = $1", [.bytes(hash)])
    case .revoke(let note):
      try revoke(
        "VALUES ($1, $2, $3)",
        [.bytes(note.database), .bytes(note.uid), .integer(note.validSince)],
        replacing: "excluded.valid_since"
      )
    case .revokeAll(let database, let second):
      try revoke(
        "SELECT database, uid, $1 FROM \(prefix)accounts WHERE database = $2",
        [.integer(second), .bytes(database)],
        // Tokens that followed an earlier revocation in this second are dated to its second.
        replacing: """
          CASE WHEN revocations.valid_since < excluded.valid_since
          THEN excluded.valid_since ELSE revocations.valid_since + 1 END
          """
      )
    case .tidy(let now): try tidy(now)
    }
  }

  private func revoke(
    _ notes: String,
    _ values: [IdentityValue],
    replacing second: String
  ) throws(Failure) {
    try execute(
      """
      INSERT INTO \(prefix)revocations (database, uid, valid_since) \(notes)
      ON CONFLICT (database, uid) DO UPDATE SET valid_since = \(second)
      """,
      values
    )
  }

  private func save(_ account: Account, isNew: Bool) throws(Failure) {
    let replacing = """
      ON CONFLICT (database, uid) DO UPDATE SET email = excluded.email, body = excluded.body
      """
    try execute(
      """
      INSERT INTO \(prefix)accounts (database, uid, email, body) VALUES ($1, $2, $3, $4)
      \(isNew ? "" : replacing)
      """,
      [
        .bytes(account.database), .bytes(account.uid),
        account.email.map { .bytes($0.text) } ?? .noBytes, .bytes(account.json.text),
      ]
    )
  }

  private func begin(_ session: SignInSession, token: [UInt8]) throws(Failure) {
    let token = IdentityContents.Token(hash: token, replaced: nil)
    let used = session.signedIn * 1_000
    try add(IdentityContents.SignIn(session: session, used: used, tokens: [token]))
    try execute(
      """
      DELETE FROM \(sessions) WHERE id IN (
        SELECT id FROM \(sessions) WHERE database = $1 AND uid = $2
        ORDER BY used DESC, \(dialect.sessionOrder) DESC \(dialect.noLimit) OFFSET $3
      )
      """,
      [
        .bytes(session.database), .bytes(session.uid),
        .integer(Int64(IdentityKeeping.sessionsPerAccount)),
      ]
    )
  }

  private func add(_ signIn: IdentityContents.SignIn) throws(Failure) {
    let session = signIn.session
    try execute(
      "INSERT INTO \(sessions) (id, database, uid, used, body) VALUES ($1, $2, $3, $4, $5)",
      [
        .bytes(session.id), .bytes(session.database), .bytes(session.uid), .integer(signIn.used),
        .bytes(session.json.text),
      ]
    )
    for token in signIn.tokens {
      try execute(
        """
        INSERT INTO \(prefix)tokens (hash, \(dialect.session), replaced)
        VALUES ($1, $2, nullif($3, -1))
        """,
        [.bytes(token.hash), .bytes(session.id), .integer(token.replaced ?? -1)]
      )
    }
  }

  /// Does nothing if the token is unknown.
  private func replace(
    _ token: [UInt8],
    by successor: [UInt8],
    at time: Int64
  ) throws(Failure) {
    let (tokens, session) = ("\(prefix)tokens", dialect.session)
    try execute(
      "UPDATE \(tokens) SET replaced = $1 WHERE hash = $2",
      [.integer(time), .bytes(token)]
    )
    try execute(
      """
      UPDATE \(sessions) SET used = $1
      WHERE id = (SELECT \(session) FROM \(tokens) WHERE hash = $2)
      """,
      [.integer(time), .bytes(token)]
    )
    // Another server may have replaced the token at the same moment, by the same one.
    try execute(
      """
      INSERT INTO \(tokens) (hash, \(session)) SELECT $1, \(session) FROM \(tokens) WHERE hash = $2
      ON CONFLICT (hash) DO NOTHING
      """,
      [.bytes(successor), .bytes(token)]
    )
    try execute(
      """
      DELETE FROM \(tokens) WHERE number IN (
        SELECT number FROM \(tokens)
        WHERE \(session) = (SELECT \(session) FROM \(tokens) WHERE hash = $1)
        ORDER BY number DESC \(dialect.noLimit) OFFSET $2
      )
      """,
      [.bytes(token), .integer(Int64(IdentityKeeping.tokensPerSession + 1))]
    )
  }

  private func tidy(_ now: Int64) throws(Failure) {
    try execute("DELETE FROM \(prefix)codes WHERE expires <= $1", [.integer(now)])
    try execute(
      "DELETE FROM \(sessions) WHERE used + $1 <= $2",
      [.integer(IdentityKeeping.session), .integer(now)]
    )
    try execute(
      "DELETE FROM \(prefix)revocations WHERE valid_since * 1000 + $1 <= $2",
      [.integer(IdentityKeeping.revocation), .integer(now)]
    )
  }

  /// Adds everything that another store had, except its secrets.
  package func add(_ contents: IdentityContents) throws(Failure) {
    for account in contents.accounts { try save(account, isNew: true) }
    for session in contents.sessions { try add(session) }
    for (hash, code) in contents.codes { try apply(.addCode(code, hash: hash)) }
    for note in contents.revocations { try apply(.revoke(note)) }
  }
}

/// A store of accounts in the tables of a database.
package protocol TableIdentityStore: IdentityStore {
  func read<Value>(_ body: (IdentityReader) throws -> Value) throws(StoreError) -> Value
}

/// A store of accounts whose contents can be moved as a whole.
package protocol MovableIdentityStore: TableIdentityStore {
  /// Takes over the contents of another store.
  ///
  /// - Throws: `StoreError` when there are accounts or secrets already, or they cannot be stored.
  func restore(_ contents: IdentityContents) throws
}

extension TableIdentityStore {
  package func account(_ uid: String, in database: String) throws -> Account? {
    try read {
      try $0.accounts("WHERE database = $1 AND uid = $2", [.bytes(database), .bytes(uid)]).first
    }
  }

  package func account(of email: EmailAddress, in database: String) throws -> Account? {
    try read {
      let values: [IdentityValue] = [.bytes(database), .bytes(email.text)]
      return try $0.accounts("WHERE database = $1 AND email = $2", values).first
    }
  }

  /// Accounts of a database in the order of their identifiers.
  package func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account] {
    try read {
      try $0.accounts(
        "WHERE database = $1 AND uid > $2 ORDER BY uid LIMIT $3",
        [.bytes(database), .bytes(uid ?? ""), .integer(Int64(limit))]
      )
    }
  }

  /// The session that a refresh token belongs to, or nil when the token is unknown.
  package func session(ofToken hash: [UInt8]) throws -> RefreshRecord? {
    try read { try $0.session(ofToken: hash) }
  }

  package func code(_ hash: [UInt8]) throws -> OneTimeCode? { try read { try $0.code(hash) } }

  /// The revocations that took effect after a second since 1970.
  package func revocations(since second: Int64) throws -> [TokenAuthority.Revocation] {
    try read { try $0.revocations(since: second) }
  }
}

extension MovableIdentityStore {
  package func contents() throws -> IdentityContents {
    var contents = try read { try $0.contents() }
    for file in SecretFile.allCases { contents.secrets[file] = try secret(file) }
    return contents
  }
}

/// Reads the tables of accounts.
///
/// All functions throw the errors of the statements, and ``DamagedData``.
package struct IdentityReader {
  private let dialect: IdentityDialect
  private let query: (_ sql: String, _ values: [IdentityValue]) throws -> any IdentityRows

  package init(
    _ dialect: IdentityDialect,
    query: @escaping (_ sql: String, _ values: [IdentityValue]) throws -> any IdentityRows
  ) {
    self.dialect = dialect
    self.query = query
  }

  private var prefix: String { dialect.prefix }

  fileprivate func accounts(_ clauses: String, _ values: [IdentityValue] = []) throws -> [Account] {
    let rows = try query("SELECT body, database FROM \(prefix)accounts \(clauses)", values)
    return try (0..<rows.count).map { row in
      var account = try decode(rows, row, column: 0, as: "an account") { Account(json: $0) }
      account.database = try text(rows, row, column: 1)
      return account
    }
  }

  /// An account that nobody else changes before the transaction ends, or nil; only in PostgreSQL.
  package func lockedAccount(_ uid: String, in database: String) throws -> Account? {
    let values: [IdentityValue] = [.bytes(database), .bytes(uid)]
    return try accounts("WHERE database = $1 AND uid = $2 FOR UPDATE", values).first
  }

  fileprivate func session(ofToken hash: [UInt8]) throws -> RefreshRecord? {
    let rows = try query(
      """
      SELECT s.body, s.database, t.replaced FROM \(prefix)tokens t
      JOIN \(dialect.sessions) s ON s.id = t.\(dialect.session) WHERE t.hash = $1
      """,
      [.bytes(hash)]
    )
    guard rows.count > 0 else { return nil }
    return RefreshRecord(session: try session(rows, 0), replaced: try time(rows, 0, column: 2))
  }

  fileprivate func code(_ hash: [UInt8]) throws -> OneTimeCode? {
    let rows = try query("SELECT body FROM \(prefix)codes WHERE hash = $1", [.bytes(hash)])
    return rows.count == 0 ? nil : try code(rows, 0, column: 0)
  }

  fileprivate func revocations(since second: Int64) throws -> [TokenAuthority.Revocation] {
    let rows = try query(
      "SELECT database, uid, valid_since FROM \(prefix)revocations WHERE valid_since > $1",
      [.integer(second)]
    )
    return try (0..<rows.count).map { row in
      TokenAuthority.Revocation(
        database: try text(rows, row, column: 0),
        uid: try text(rows, row, column: 1),
        validSince: try rows.integer(row, column: 2)
      )
    }
  }

  /// Everything except the secrets.
  fileprivate func contents() throws -> IdentityContents {
    var contents = IdentityContents()
    contents.accounts = try accounts("ORDER BY database, uid")
    let sessions = try query(
      "SELECT body, database, used, id FROM \(dialect.sessions) ORDER BY \(dialect.sessionOrder)",
      []
    )
    for row in 0..<sessions.count {
      let tokens = try query(
        """
        SELECT hash, replaced FROM \(prefix)tokens WHERE \(dialect.session) = $1 ORDER BY number
        """,
        [.bytes(sessions.bytes(row, column: 3))]
      )
      contents.sessions.append(
        IdentityContents.SignIn(
          session: try session(sessions, row),
          used: try sessions.integer(row, column: 2),
          tokens: try (0..<tokens.count).map {
            IdentityContents.Token(
              hash: try tokens.bytes($0, column: 0),
              replaced: try time(tokens, $0, column: 1)
            )
          }
        )
      )
    }
    let codes = try query("SELECT hash, body FROM \(prefix)codes", [])
    for row in 0..<codes.count {
      contents.codes[try codes.bytes(row, column: 0)] = try code(codes, row, column: 1)
    }
    contents.revocations = try revocations(since: .min)
    return contents
  }

  // MARK: Decoding

  private func session(_ rows: any IdentityRows, _ row: Int) throws -> SignInSession {
    var session = try decode(rows, row, column: 0, as: "a session") { SignInSession(json: $0) }
    session.database = try text(rows, row, column: 1)
    return session
  }

  private func text(_ rows: any IdentityRows, _ row: Int, column: Int) throws -> String {
    String(decoding: try rows.bytes(row, column: column), as: UTF8.self)
  }

  private func code(_ rows: any IdentityRows, _ row: Int, column: Int) throws -> OneTimeCode {
    try decode(rows, row, column: column, as: "a code") { OneTimeCode(json: $0) }
  }

  private func time(_ rows: any IdentityRows, _ row: Int, column: Int) throws -> Int64? {
    try rows.isNull(row, column: column) ? nil : rows.integer(row, column: column)
  }

  private func decode<Value>(
    _ rows: any IdentityRows,
    _ row: Int,
    column: Int,
    as what: String,
    _ make: (JSONValue) -> Value?
  ) throws -> Value {
    let bytes = try rows.bytes(row, column: column)
    guard let json = try? JSONParser.parse(bytes) else {
      throw DamagedData("an account row cannot be read")
    }
    guard let value = make(json) else { throw DamagedData("\(what) cannot be read") }
    return value
  }
}
