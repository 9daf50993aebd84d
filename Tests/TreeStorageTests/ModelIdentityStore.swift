import NIOConcurrencyHelpers
import RealtimeCore

@testable import RealtimeServer

/// Accounts in dictionaries, as a model of what every store of accounts does.
final class ModelIdentityStore: IdentityStore {
  private struct Entry {
    var session: SignInSession
    var used: Int64
    /// The hashes of its tokens, oldest first.
    var tokens: [[UInt8]] = []
  }

  private struct State {
    var accounts: [String: [String: Account]] = [:]
    var sessions: [String: Entry] = [:]
    var tokens: [[UInt8]: (session: String, replaced: Int64?)] = [:]
    var codes: [[UInt8]: OneTimeCode] = [:]
    var revocations: [TokenAuthority.Revocation] = []
    var secrets: [SecretFile: JSONValue] = [:]
  }

  private let state = NIOLockedValueBox(State())

  func account(_ uid: String, in database: String) -> Account? {
    state.withLockedValue { $0.accounts[database]?[uid] }
  }

  func account(of email: EmailAddress, in database: String) -> Account? {
    state.withLockedValue { $0.accounts[database]?.values.first { $0.email == email } }
  }

  func accounts(in database: String, after uid: String?, limit: Int) -> [Account] {
    let all = state.withLockedValue { $0.accounts[database]?.values.map(\.self) ?? [] }
    return Array(
      all.filter { account in uid.map { Self.precedes($0, account.uid) } ?? true }
        .sorted { Self.precedes($0.uid, $1.uid) }.prefix(limit)
    )
  }

  /// Compares bytewise, like a database on disk.
  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  func session(ofToken hash: [UInt8]) -> RefreshRecord? {
    state.withLockedValue { state in
      guard let token = state.tokens[hash], let entry = state.sessions[token.session] else {
        return nil
      }
      return RefreshRecord(session: entry.session, replaced: token.replaced)
    }
  }

  func code(_ hash: [UInt8]) -> OneTimeCode? {
    state.withLockedValue { $0.codes[hash] }
  }

  func revocations(since second: Int64) -> [TokenAuthority.Revocation] {
    state.withLockedValue { $0.revocations.filter { $0.validSince > second } }
  }

  func secret(_ file: SecretFile) -> JSONValue? {
    state.withLockedValue { $0.secrets[file] }
  }

  func setSecret(_ file: SecretFile, to json: JSONValue) {
    state.withLockedValue { $0.secrets[file] = json }
  }

  func addSecret(_ file: SecretFile, holding json: JSONValue) -> JSONValue {
    state.withLockedValue { state in
      let known = state.secrets[file] ?? json
      state.secrets[file] = known
      return known
    }
  }

  func apply(_ changes: [IdentityChange]) {
    state.withLockedValue { state in
      for change in changes { Self.apply(change, to: &state) }
    }
  }

  func close() {}

  // MARK: Changes

  private static func apply(_ change: IdentityChange, to state: inout State) {
    switch change {
    case .save(let account, insteadOf: _):
      state.accounts[account.database, default: [:]][account.uid] = account
    case .delete(let uid, let database):
      state.accounts[database]?[uid] = nil
      forget(in: &state) { $0 == database && $1 == uid }
    case .clear(let database):
      state.accounts[database] = nil
      forget(in: &state) { name, _ in name == database }
    case .rename(let database, let name):
      for (uid, var account) in state.accounts.removeValue(forKey: database) ?? [:] {
        account.database = name
        state.accounts[name, default: [:]][uid] = account
      }
      for (id, entry) in state.sessions where entry.session.database == database {
        state.sessions[id]?.session.database = name
      }
      state.codes = state.codes.filter { $0.value.database != database }
    case .begin(let session, let token):
      state.sessions[session.id] = Entry(session: session, used: session.signedIn * 1_000)
      add(token, to: session.id, in: &state)
      limitSessions(of: session, &state)
    case .replace(let token, let successor, let time):
      guard let id = state.tokens[token]?.session else { return }
      state.tokens[token]?.replaced = time
      state.sessions[id]?.used = time
      add(successor, to: id, in: &state)
    case .end(let session): end(session, in: &state)
    case .addCode(let code, let hash): state.codes[hash] = code
    case .removeCode(let hash): state.codes[hash] = nil
    case .revoke(let note): revoke(note, in: &state)
    case .revokeAll(let database, let second):
      for uid in (state.accounts[database] ?? [:]).keys {
        let last = state.revocations.last { $0.database == database && $0.uid == uid }
        let next = max(second, last.map { $0.validSince + 1 } ?? second)
        revoke(
          TokenAuthority.Revocation(database: database, uid: uid, validSince: next),
          in: &state
        )
      }
    case .tidy(let now):
      state.codes = state.codes.filter { $0.value.expires > now }
      let past = state.sessions.filter { $0.value.used + IdentityKeeping.session <= now }
      for id in past.keys { end(id, in: &state) }
      state.revocations.removeAll { $0.validSince * 1_000 + IdentityKeeping.revocation <= now }
    }
  }

  private static func revoke(_ note: TokenAuthority.Revocation, in state: inout State) {
    state.revocations.removeAll { $0.database == note.database && $0.uid == note.uid }
    state.revocations.append(note)
  }

  private static func add(_ token: [UInt8], to session: String, in state: inout State) {
    state.tokens[token] = (session, nil)
    state.sessions[session]?.tokens.append(token)
    guard let tokens = state.sessions[session]?.tokens,
      tokens.count > IdentityKeeping.tokensPerSession + 1
    else { return }
    state.sessions[session]?.tokens.removeFirst()
    state.tokens[tokens[0]] = nil
  }

  private static func limitSessions(of session: SignInSession, _ state: inout State) {
    let others = state.sessions.values.filter {
      $0.session.database == session.database && $0.session.uid == session.uid
    }
    let excess = others.count - IdentityKeeping.sessionsPerAccount
    guard excess > 0 else { return }
    for entry in others.sorted(by: { $0.used < $1.used }).prefix(excess) {
      end(entry.session.id, in: &state)
    }
  }

  private static func end(_ session: String, in state: inout State) {
    guard let entry = state.sessions.removeValue(forKey: session) else { return }
    for token in entry.tokens { state.tokens[token] = nil }
  }

  private static func forget(in state: inout State, where isMeant: (String, String) -> Bool) {
    for (id, entry) in state.sessions where isMeant(entry.session.database, entry.session.uid) {
      end(id, in: &state)
    }
    state.codes = state.codes.filter { !isMeant($0.value.database, $0.value.uid) }
  }
}
