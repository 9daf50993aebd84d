package import RealtimeCore

extension Account {
  /// The account as a store keeps it.
  package var json: JSONValue {
    var members = [
      JSONMember("database", .string(database)),
      JSONMember("uid", .string(uid)),
      JSONMember("created", .integer(created)),
      JSONMember("lastSignIn", .integer(lastSignIn)),
      JSONMember("validSince", .integer(validSince)),
      JSONMember("disabled", .bool(isDisabled)),
      JSONMember("emailVerified", .bool(isEmailVerified)),
    ]
    func add(_ name: String, _ text: String?) {
      if let text { members.append(JSONMember(name, .string(text))) }
    }
    func add(_ name: String, _ time: Int64?) {
      if let time { members.append(JSONMember(name, .integer(time))) }
    }
    add("email", email?.text)
    add("displayName", displayName)
    add("photoURL", photoURL)
    add("password", password?.text)
    add("passwordChanged", passwordChanged)
    add("resetRequested", resetRequested)
    if !customClaims.isEmpty { members.append(JSONMember("claims", .object(customClaims))) }
    return .object(members)
  }

  /// Reads what a store has kept; nil when it is none of what ``json`` gives.
  package init?(json: JSONValue) {
    guard let database = json["database"]?.string, let uid = json["uid"]?.string,
      let created = json["created"]?.integer, let lastSignIn = json["lastSignIn"]?.integer,
      let validSince = json["validSince"]?.integer, let isDisabled = json["disabled"]?.bool,
      let isEmailVerified = json["emailVerified"]?.bool
    else { return nil }
    self.init(database: database, uid: uid, created: created)
    self.lastSignIn = lastSignIn
    self.validSince = validSince
    self.isDisabled = isDisabled
    self.isEmailVerified = isEmailVerified
    if let text = json["email"]?.string {
      guard let email = EmailAddress(text) else { return nil }
      self.email = email
    }
    if let text = json["password"]?.string {
      guard let password = PasswordHash(text) else { return nil }
      self.password = password
    }
    displayName = json["displayName"]?.string
    photoURL = json["photoURL"]?.string
    passwordChanged = json["passwordChanged"]?.integer
    resetRequested = json["resetRequested"]?.integer
    customClaims = json["claims"]?.members ?? []
  }
}
