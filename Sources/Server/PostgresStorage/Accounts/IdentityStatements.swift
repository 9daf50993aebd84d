import RealtimeCore
import RealtimeServer

/// Changes the tables of accounts, within the caller's transaction.
struct IdentityStatements {
  private let connection: PostgresConnection
  private let limit: Duration

  init(_ connection: PostgresConnection, within limit: Duration) {
    self.connection = connection
    self.limit = limit
  }

  private func execute(
    _ sql: String,
    with parameters: [PostgresValue]
  ) throws(PostgresFailure) {
    try connection.query(sql, with: parameters, within: limit)
  }

  /// Text in the form the tables keep: bytes, which are compared exactly.
  static func bytes(_ text: String) -> PostgresValue { .bytes(Array(text.utf8)) }

  private func bytes(_ text: String) -> PostgresValue { Self.bytes(text) }

  /// Applies a change.
  func apply(_ change: IdentityChange) throws(PostgresFailure) {
    switch change {
    case .save(let account): try save(account)
    case .delete(let uid, let database):
      for table in ["accounts", "sign_ins", "codes"] {
        try execute(
          "DELETE FROM hearth.\(table) WHERE database = $1 AND uid = $2",
          with: [bytes(database), bytes(uid)]
        )
      }
    case .clear(let database):
      for table in ["accounts", "sign_ins", "codes"] {
        try execute("DELETE FROM hearth.\(table) WHERE database = $1", with: [bytes(database)])
      }
    case .rename(let database, let name): try rename(database, to: name)
    case .begin(let session, let token): try begin(session, token: token)
    case .replace(let token, let successor, let time): try replace(token, by: successor, at: time)
    case .end(let session):
      try execute("DELETE FROM hearth.sign_ins WHERE id = $1", with: [bytes(session)])
    case .addCode(let code, let hash):
      try execute(
        """
        INSERT INTO hearth.codes (hash, database, uid, expires, body) VALUES ($1, $2, $3, $4, $5)
        """,
        with: [
          .bytes(hash), bytes(code.database), bytes(code.uid), .integer(code.expires),
          bytes(code.json.text),
        ]
      )
    case .removeCode(let hash):
      try execute("DELETE FROM hearth.codes WHERE hash = $1", with: [.bytes(hash)])
    case .revoke(let note):
      try execute(
        """
        INSERT INTO hearth.revocations (database, uid, valid_since) VALUES ($1, $2, $3)
        ON CONFLICT (database, uid) DO UPDATE SET valid_since = excluded.valid_since
        """,
        with: [bytes(note.database), bytes(note.uid), .integer(note.validSince)]
      )
    case .revokeAll(let database, let second):
      try execute(
        """
        INSERT INTO hearth.revocations (database, uid, valid_since)
        SELECT database, uid, $2 FROM hearth.accounts WHERE database = $1
        ON CONFLICT (database, uid) DO UPDATE SET valid_since = excluded.valid_since
        """,
        with: [bytes(database), .integer(second)]
      )
    case .tidy(let now): try tidy(now)
    }
  }

  private func rename(_ database: String, to name: String) throws(PostgresFailure) {
    try execute("DELETE FROM hearth.codes WHERE database = $1", with: [bytes(database)])
    for table in ["accounts", "sign_ins"] {
      try execute(
        """
        UPDATE hearth.\(table) SET database = $2, body = convert_to(jsonb_set(
          convert_from(body, 'UTF8')::jsonb, '{database}', to_jsonb($3::text))::text, 'UTF8')
        WHERE database = $1
        """,
        with: [bytes(database), bytes(name), .text(name)]
      )
    }
  }

  private func save(_ account: Account) throws(PostgresFailure) {
    try execute(
      """
      INSERT INTO hearth.accounts (database, uid, email, body) VALUES ($1, $2, $3, $4)
      ON CONFLICT (database, uid) DO UPDATE SET email = excluded.email, body = excluded.body
      """,
      with: [
        bytes(account.database), bytes(account.uid),
        account.email.map { bytes($0.text) } ?? .noBytes, bytes(account.json.text),
      ]
    )
  }

  private func begin(_ session: SignInSession, token: [UInt8]) throws(PostgresFailure) {
    try add(session, used: session.signedIn * 1_000)
    try add(IdentityContents.Token(hash: token, replaced: nil), to: session.id)
    try execute(
      """
      DELETE FROM hearth.sign_ins WHERE id IN (
        SELECT id FROM hearth.sign_ins WHERE database = $1 AND uid = $2
        ORDER BY used DESC, number DESC OFFSET $3
      )
      """,
      with: [
        bytes(session.database), bytes(session.uid),
        .integer(Int64(IdentityKeeping.sessionsPerAccount)),
      ]
    )
  }

  /// Adds a session.
  func add(_ session: SignInSession, used: Int64) throws(PostgresFailure) {
    try execute(
      "INSERT INTO hearth.sign_ins (id, database, uid, used, body) VALUES ($1, $2, $3, $4, $5)",
      with: [
        bytes(session.id), bytes(session.database), bytes(session.uid), .integer(used),
        bytes(session.json.text),
      ]
    )
  }

  /// Adds a token to a session.
  func add(_ token: IdentityContents.Token, to session: String) throws(PostgresFailure) {
    try execute(
      "INSERT INTO hearth.tokens (hash, sign_in, replaced) VALUES ($1, $2, nullif($3, -1))",
      with: [.bytes(token.hash), bytes(session), .integer(token.replaced ?? -1)]
    )
  }

  private func replace(
    _ token: [UInt8],
    by successor: [UInt8],
    at time: Int64
  ) throws(PostgresFailure) {
    let rows = try connection.query(
      "UPDATE hearth.tokens SET replaced = $2 WHERE hash = $1 RETURNING sign_in",
      with: [.bytes(token), .integer(time)],
      within: limit
    )
    guard rows.count == 1 else { return }
    let session = PostgresValue.bytes(rows.bytes(0, column: 0))
    try execute(
      "UPDATE hearth.sign_ins SET used = $2 WHERE id = $1",
      with: [session, .integer(time)]
    )
    try execute(
      "INSERT INTO hearth.tokens (hash, sign_in) VALUES ($1, $2)",
      with: [.bytes(successor), session]
    )
    try execute(
      """
      DELETE FROM hearth.tokens WHERE number IN (
        SELECT number FROM hearth.tokens WHERE sign_in = $1 ORDER BY number DESC OFFSET $2
      )
      """,
      with: [session, .integer(Int64(IdentityKeeping.tokensPerSession + 1))]
    )
  }

  private func tidy(_ now: Int64) throws(PostgresFailure) {
    try execute("DELETE FROM hearth.codes WHERE expires <= $1", with: [.integer(now)])
    try execute(
      "DELETE FROM hearth.sign_ins WHERE used + $2 <= $1",
      with: [.integer(now), .integer(IdentityKeeping.session)]
    )
    try execute(
      "DELETE FROM hearth.revocations WHERE valid_since * 1000 + $2 <= $1",
      with: [.integer(now), .integer(IdentityKeeping.revocation)]
    )
  }

  /// Replaces a secret.
  func setSecret(_ file: SecretFile, to json: JSONValue) throws(PostgresFailure) {
    try execute(
      """
      INSERT INTO hearth.secrets (name, body) VALUES ($1, $2)
      ON CONFLICT (name) DO UPDATE SET body = excluded.body
      """,
      with: [.text(file.rawValue), bytes(json.text)]
    )
  }
}
