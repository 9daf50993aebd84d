internal import RealtimeCore

/// What a credential file says: accounts of several servers, the last one to sign in first.
struct CredentialBook: Equatable, Sendable {
  /// An account and whose it is.
  struct Entry: Equatable, Sendable {
    var server: String
    var account: Account
  }

  var entries: [Entry] = []

  private static let version: Int64 = 1

  /// Keeps an account; see ``CredentialStore/save(_:of:isNew:)``.
  mutating func save(_ account: Account, of server: String, isNew: Bool) {
    let entry = Entry(server: server, account: account)
    let place = entries.firstIndex { $0.server == server && $0.account.uid == account.uid }
    if isNew {
      if let place { entries.remove(at: place) }
      entries.insert(entry, at: 0)
    } else if let place {
      entries[place] = entry
    }
  }

  mutating func remove(uid: String, of server: String) {
    entries.removeAll { $0.server == server && $0.account.uid == uid }
  }

  /// The book as text.
  var text: String {
    let accounts = entries.map { entry in
      JSONValue.object([JSONMember("server", .string(entry.server))] + Self.members(entry.account))
    }
    return JSONValue.object(
      ("version", .integer(Self.version)),
      ("accounts", .array(accounts))
    ).text + "\n"
  }

  /// Makes an empty book.
  init() {}

  /// Reads a book; nil when it is none, or one of a later version.
  init?(_ bytes: [UInt8]) {
    guard let json = try? JSONParser.parse(bytes), json["version"]?.integer == Self.version,
      let accounts = json["accounts"]?.elements
    else { return nil }
    for json in accounts {
      guard let server = json["server"]?.string, let account = Self.account(json) else {
        return nil
      }
      entries.append(Entry(server: server, account: account))
    }
  }

  private static func members(_ account: Account) -> [JSONMember] {
    func text(_ name: String, _ value: String?) -> JSONMember? {
      value.map { JSONMember(name, .string($0)) }
    }
    let profile = account.profile
    return [
      text("uid", account.uid), text("email", profile.email),
      text("displayName", profile.displayName), text("photoURL", profile.photoURL),
      JSONMember("isEmailVerified", .bool(profile.isEmailVerified)),
      JSONMember("isAnonymous", .bool(profile.isAnonymous)),
      text("idToken", account.tokens.idToken), text("refreshToken", account.tokens.refreshToken),
      JSONMember("expires", .integer(account.tokens.expires)),
      JSONMember("lifetime", .integer(account.tokens.lifetime)),
    ].compactMap(\.self)
  }

  private static func account(_ json: JSONValue) -> Account? {
    guard let uid = json["uid"]?.string, let idToken = json["idToken"]?.string,
      let refreshToken = json["refreshToken"]?.string, let expires = json["expires"]?.integer,
      let lifetime = json["lifetime"]?.integer
    else { return nil }
    return Account(
      uid: uid,
      profile: Account.Profile(
        email: json["email"]?.string,
        displayName: json["displayName"]?.string,
        photoURL: json["photoURL"]?.string,
        isEmailVerified: json["isEmailVerified"]?.bool ?? false,
        isAnonymous: json["isAnonymous"]?.bool ?? false
      ),
      tokens: Account.Tokens(
        idToken: idToken,
        refreshToken: refreshToken,
        expires: expires,
        lifetime: lifetime
      )
    )
  }
}
