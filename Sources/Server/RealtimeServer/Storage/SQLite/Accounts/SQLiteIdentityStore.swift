import DurableFiles
import Foundation
import GRDB
package import RealtimeCore

/// The accounts of a server in a directory that only its owner may enter.
///
///     DIRECTORY/accounts.sqlite            accounts, sessions, codes
///     DIRECTORY/accounts.sqlite-mark       how much of that has been acknowledged
///     DIRECTORY/keys.json                  what tokens are signed with
///     DIRECTORY/custom-token-key.json      what programs of administrators sign with
///
/// Exports and backups of databases contain none of this, so a backup gives no one access.
package final class SQLiteIdentityStore: MovableIdentityStore, @unchecked Sendable {
  // Safety: the writer, the mark and the count are used from one thread at a time, like every
  // `IdentityStore`. All others are Sendable.

  private let directory: String
  private let path: String
  private let writer: DurableWriter
  private let lock: DirectoryLock
  /// Records what has been acknowledged; nil if it cannot be used, so that a loss would go
  /// undetected.
  private let mark: HighWaterMark?
  private var changeCount: Int64

  /// Opens the accounts of a directory, which is created if it is missing.
  ///
  /// - Parameter directory: The path of the directory.
  /// - Throws: `StoreError` when it cannot be used, another process uses it, other users may enter
  ///   it, or acknowledged changes are missing from it.
  package init(directory: String) throws(StoreError) {
    self.directory = directory
    path = directory + "/accounts.sqlite"
    let storeDirectory = StoreDirectory(path: directory)
    try storeDirectory.create()
    try SecretFiles.checkPrivate(directory)
    lock = try DirectoryLock(directory: directory, patience: .milliseconds(500))
    try StoreError.translating(at: path) { [path] in try IdentitySchema.checkForLoss(path) }
    try SecretFiles.create(path)
    let writer = try StoreError.translating(at: path) { [path] in
      try DurableWriter(path: path, checkpointPages: 1_000) { try IdentitySchema.open(path) }
    }
    self.writer = writer
    changeCount = try StoreError.translating(at: path) {
      try writer.queue.read(IdentitySchema.changeCount)
    }
    mark = try? HighWaterMark(path: CompanionFile.mark(of: path))
    moveMark()
  }

  private func moveMark() {
    try? mark?.move(to: HighWaterMark.Position(others: changeCount))
  }

  /// Whether a directory has accounts.
  package static func exists(in directory: String) -> Bool {
    access(directory + "/accounts.sqlite", F_OK) == 0
  }

  // MARK: Reading

  private func read<Value>(_ body: (Database) throws -> Value) throws(StoreError) -> Value {
    try StoreError.translating(at: path) { try writer.queue.read(body) }
  }

  package func account(_ uid: String, in database: String) throws -> Account? {
    try read { connection in
      try account(
        connection,
        where: "database = ? AND uid = ?",
        arguments: [bytes(database), bytes(uid)]
      )
    }
  }

  package func account(of email: EmailAddress, in database: String) throws -> Account? {
    try read { connection in
      try account(
        connection,
        where: "database = ? AND email = ?",
        arguments: [bytes(database), bytes(email.text)]
      )
    }
  }

  private func account(
    _ connection: Database,
    where condition: String,
    arguments: StatementArguments
  ) throws -> Account? {
    let sql = "SELECT body FROM accounts WHERE \(condition)"
    return try Data.fetchOne(connection, sql: sql, arguments: arguments).map(account)
  }

  package func accounts(in database: String, after uid: String?, limit: Int) throws -> [Account] {
    try read { connection in
      try Data.fetchAll(
        connection,
        sql: "SELECT body FROM accounts WHERE database = ? AND uid > ? ORDER BY uid LIMIT ?",
        arguments: [bytes(database), bytes(uid ?? ""), limit]
      ).map(account)
    }
  }

  package func session(ofToken hash: [UInt8]) throws -> RefreshRecord? {
    try read { connection in
      let row = try Row.fetchOne(
        connection,
        sql: """
          SELECT sessions.body, tokens.replaced FROM tokens
          JOIN sessions ON sessions.id = tokens.session WHERE tokens.hash = ?
          """,
        arguments: [Data(hash)]
      )
      guard let row else { return nil }
      let json = try json(row.decode(Data.self, forColumn: "body"))
      guard let session = SignInSession(json: json) else { throw damaged("a session") }
      return RefreshRecord(
        session: session,
        replaced: try row.decode(Int64?.self, forColumn: "replaced")
      )
    }
  }

  package func code(_ hash: [UInt8]) throws -> OneTimeCode? {
    try read { connection in
      let data = try Data.fetchOne(
        connection,
        sql: "SELECT body FROM codes WHERE hash = ?",
        arguments: [Data(hash)]
      )
      guard let data else { return nil }
      guard let code = OneTimeCode(json: try json(data)) else { throw damaged("a code") }
      return code
    }
  }

  package func revocations(since second: Int64) throws -> [TokenAuthority.Revocation] {
    try read { connection in
      try Row.fetchAll(
        connection,
        sql: "SELECT database, uid, valid_since FROM revocations WHERE valid_since > ?",
        arguments: [second]
      ).map { row in
        let database = try row.decode(Data.self, forColumn: "database")
        let uid = try row.decode(Data.self, forColumn: "uid")
        return TokenAuthority.Revocation(
          database: String(decoding: database, as: UTF8.self),
          uid: String(decoding: uid, as: UTF8.self),
          validSince: try row.decode(Int64.self, forColumn: "valid_since")
        )
      }
    }
  }

  private func account(_ data: Data) throws -> Account {
    guard let account = Account(json: try json(data)) else { throw damaged("an account") }
    return account
  }

  private func json(_ data: Data) throws -> JSONValue {
    guard let json = try? JSONParser.parse(data) else { throw damaged("a row") }
    return json
  }

  private func damaged(_ what: String) -> StoreError {
    .damaged(path, because: "\(what) cannot be read")
  }

  // MARK: Writing

  package func apply(_ changes: [IdentityChange]) throws {
    try StoreError.translating(at: path) {
      try writer.write { connection in
        let writer = IdentityWriter(connection)
        for change in changes { try writer.apply(change) }
        try connection.cachedStatement(sql: "UPDATE changes SET number = number + 1").execute()
      }
    }
    changeCount += 1
    moveMark()
  }

  // MARK: Moving

  package func contents() throws -> IdentityContents {
    var contents = try read { connection in
      var contents = IdentityContents()
      contents.accounts = try Data.fetchAll(
        connection,
        sql: "SELECT body FROM accounts ORDER BY database, uid"
      ).map(account)
      let rows = try Row.fetchAll(
        connection,
        sql: "SELECT id, body, used FROM sessions ORDER BY rowid"
      )
      for row in rows {
        let json = try json(row.decode(Data.self, forColumn: "body"))
        guard let session = SignInSession(json: json) else { throw damaged("a session") }
        let tokens = try Row.fetchAll(
          connection,
          sql: "SELECT hash, replaced FROM tokens WHERE session = ? ORDER BY number",
          arguments: [try row.decode(Data.self, forColumn: "id")]
        )
        contents.sessions.append(
          IdentityContents.SignIn(
            session: session,
            used: try row.decode(Int64.self, forColumn: "used"),
            tokens: try tokens.map {
              IdentityContents.Token(
                hash: Array(try $0.decode(Data.self, forColumn: "hash")),
                replaced: try $0.decode(Int64?.self, forColumn: "replaced")
              )
            }
          )
        )
      }
      for row in try Row.fetchAll(connection, sql: "SELECT hash, body FROM codes") {
        let json = try json(row.decode(Data.self, forColumn: "body"))
        guard let code = OneTimeCode(json: json) else { throw damaged("a code") }
        contents.codes[Array(try row.decode(Data.self, forColumn: "hash"))] = code
      }
      return contents
    }
    contents.revocations = try revocations(since: .min)
    for file in SecretFile.allCases { contents.secrets[file] = try secret(file) }
    return contents
  }

  package func restore(_ contents: IdentityContents) throws {
    guard try self.contents() == IdentityContents() else {
      throw StoreError(.failed, description: "\(directory): it already has accounts or keys")
    }
    try StoreError.translating(at: path) {
      try writer.write { connection in
        let writer = IdentityWriter(connection)
        for account in contents.accounts { try writer.apply(.save(account)) }
        for session in contents.sessions { try writer.add(session) }
        for (hash, code) in contents.codes { try writer.apply(.addCode(code, hash: hash)) }
        for note in contents.revocations { try writer.apply(.revoke(note)) }
        try connection.cachedStatement(sql: "UPDATE changes SET number = number + 1").execute()
      }
    }
    changeCount += 1
    moveMark()
    for (file, json) in contents.secrets { try setSecret(file, to: json) }
  }

  // MARK: Secrets

  package func secret(_ file: SecretFile) throws -> JSONValue? {
    try SecretFiles.read("\(directory)/\(file.rawValue)")
  }

  package func setSecret(_ file: SecretFile, to json: JSONValue) throws {
    try SecretFiles.replace("\(directory)/\(file.rawValue)", with: json)
  }

  package func close() throws {
    try StoreError.translating(at: path) { try writer.close() }
    try? mark?.synchronize()
    lock.release()
  }
}

/// Text in the form the database keeps: bytes, which are compared exactly.
func bytes(_ text: String) -> Data { Data(text.utf8) }
