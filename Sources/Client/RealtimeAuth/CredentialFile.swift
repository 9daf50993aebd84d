internal import DurableFiles
internal import Foundation
internal import NIOCore
internal import RealtimeCore

/// Stores credentials in a file that only its owner can read, shared by that person's programs.
///
/// The file is always replaced as a whole, so readers need no lock; writers lock a file beside it.
/// A file that others can read or that belongs to another user is not used.
struct CredentialFile: CredentialStore {
  let path: String
  /// Times the pauses while another process is refreshing.
  let eventLoop: any EventLoop

  let isShared = true

  /// How often to try to take the turn from another process, and the pause in milliseconds.
  private static let turnTries = 100
  private static let turnPause: Int64 = 50
  /// The maximum size of a credential file, in bytes.
  private static let longest = 4 * 1_024 * 1_024

  func refreshTurn(uid: String, of server: String) async -> RefreshTurn {
    let name = SHA1.name(of: "\(server) \(uid)")
    let lock = open("\(path).\(name).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { return .unshared }
    let turn = RefreshTurn(descriptor: lock)
    for _ in 0..<Self.turnTries {
      if flock(lock, LOCK_EX | LOCK_NB) == 0 { break }
      let pause = eventLoop.scheduleTask(in: .milliseconds(Self.turnPause)) {}
      try? await pause.futureResult.get()
    }
    // A process that is stopped during its refresh must not keep all others signed out.
    return turn
  }

  /// Reads the file; a missing file gives an empty book.
  func read() throws(AuthError) -> CredentialBook {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return CredentialBook() }
      throw failure("cannot be read", code: errno)
    }
    defer { close(descriptor) }
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { throw failure("cannot be read", code: errno) }
    try check(information)
    guard information.st_size <= Self.longest else { throw failure("is too long") }
    var bytes = [UInt8](repeating: 0, count: Int(information.st_size))
    var count = 0
    while count < bytes.count {
      let length = bytes.count - count
      let got = bytes[count...].withUnsafeMutableBytes {
        Foundation.read(descriptor, $0.baseAddress, length)
      }
      if got < 0, errno == EINTR { continue }
      guard got > 0 else { throw failure("cannot be read", code: errno) }
      count += got
    }
    guard let book = CredentialBook(bytes) else {
      throw failure("is not in the format of this version; remove it and sign in again")
    }
    return book
  }

  private func check(_ information: stat) throws(AuthError) {
    guard information.st_mode & S_IFMT == S_IFREG else { throw failure("is not a regular file") }
    guard information.st_uid == geteuid() else { throw failure("belongs to another user") }
    guard information.st_mode & 0o077 == 0 else {
      throw failure("can be read by others; \"chmod 600\" it")
    }
  }

  func change(_ body: (inout CredentialBook) -> Void) throws(AuthError) {
    try prepareDirectory()
    let lock = open("\(path).lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard lock >= 0 else { throw failure("cannot be locked", code: errno) }
    defer { close(lock) }
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw failure("cannot be locked", code: errno) }
    }
    let old = try read()
    var book = old
    body(&book)
    if book != old { try write(book) }
  }

  private func prepareDirectory() throws(AuthError) {
    let directory = FilePath.directory(of: path)
    try? PrivateDirectory.create(directory)
    var information = stat()
    guard stat(directory, &information) == 0 else {
      throw failure("has no directory", code: errno)
    }
    guard information.st_uid == geteuid(), information.st_mode & 0o022 == 0 else {
      throw failure("is in a directory that others can write to")
    }
  }

  private func write(_ book: CredentialBook) throws(AuthError) {
    // The lock is held, so no other process replaces the file.
    do {
      try PrivateFile.replace(path, with: Array(book.text.utf8), isDurable: true)
    } catch {
      throw failure("cannot be written", code: error.code)
    }
  }

  private func failure(_ problem: String, code: Int32? = nil) -> AuthError {
    let reason = code.map { ": \(String(cString: strerror($0)))" } ?? ""
    return AuthError(.keychainError, message: "the credential file \(path) \(problem)\(reason)")
  }
}

/// Stored credentials: accounts on several servers, most recent sign-in first.
struct CredentialBook: Equatable, Sendable {
  struct Entry: Equatable, Sendable {
    var server: String
    var account: Account
  }

  var entries: [Entry] = []

  private static let version: Int64 = 1

  func accounts(of server: String) -> [Account] {
    entries.filter { $0.server == server }.map(\.account)
  }

  /// Stores an account, replacing an earlier version of it.
  ///
  /// Unless the user has just signed in, an account that was removed stays removed.
  mutating func save(_ account: Account, of server: String, isNew: Bool) {
    let entry = Entry(server: server, account: account)
    let index = entries.firstIndex { $0.server == server && $0.account.uid == account.uid }
    if isNew {
      if let index { entries.remove(at: index) }
      entries.insert(entry, at: 0)
    } else if let index {
      entries[index] = entry
    }
  }

  mutating func remove(uid: String, of server: String) {
    entries.removeAll { $0.server == server && $0.account.uid == uid }
  }

  var text: String {
    let accounts = entries.map { entry in
      JSONValue.object([JSONMember("server", .string(entry.server))] + Self.members(entry.account))
    }
    return JSONValue.object(
      ("version", .integer(Self.version)),
      ("accounts", .array(accounts))
    ).text + "\n"
  }

  init() {}

  /// Reads the contents of a file; nil if it is invalid or has another version.
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
    func member(_ name: String, text value: String?) -> JSONMember? {
      value.map { JSONMember(name, .string($0)) }
    }
    let profile = account.profile
    return [
      member("uid", text: account.uid), member("email", text: profile.email),
      member("displayName", text: profile.displayName), member("photoURL", text: profile.photoURL),
      JSONMember("isEmailVerified", .bool(profile.isEmailVerified)),
      JSONMember("isAnonymous", .bool(profile.isAnonymous)),
      member("idToken", text: account.tokens.idToken),
      member("refreshToken", text: account.tokens.refreshToken),
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
