import BlogModel
import Dispatch
import Foundation
import RealtimeAuth
import RealtimeDatabase

/// Signs people in to a blog elsewhere, and sees to it that each of them has a user name there.
struct AccountDesk: Sendable {
  /// Where people sign in, and where their credentials rest.
  let configuration: AuthConfiguration

  /// How long the database may take for a name, which is asked for while a person waits.
  private static let patience = Duration.seconds(10)

  /// Signs someone in who has an account.
  ///
  /// - Throws: `AuthError`.
  func signIn(email: String, password: String) async throws -> Auth {
    let auth = try nobody()
    try await auth.signIn(withEmail: email, password: password)
    return auth
  }

  /// Makes an account, and writes the user name of its owner.
  ///
  /// - Throws: `AuthError`, or `DatabaseError` when there is an account now, but no name.
  func signUp(_ author: Author, email: String, password: String) async throws -> Auth {
    let auth = try nobody()
    try await auth.createUser(withEmail: email, password: password)
    try await setUserName(author.name, of: auth)
    return auth
  }

  /// Someone who is signed in on this machine; nobody if they are not any more.
  ///
  /// - Throws: `AuthError` when the credential file cannot be used.
  func open(uid: String) throws -> Auth {
    var configuration = configuration
    configuration.account = uid
    return try Auth(configuration)
  }

  /// Accounts with nobody signed in to them, so that others who are stay so.
  private func nobody() throws -> Auth { try open(uid: "") }

  /// The name that someone has in this blog, or nil when they have none yet.
  ///
  /// - Throws: `DatabaseError` when the database does not say.
  func userName(of auth: Auth) async throws -> String? {
    guard let user = auth.currentUser else { return nil }
    let database = try database(of: auth)
    let snapshot: DataSnapshot
    do {
      snapshot = try await BlogPaths(database.reference()).user(user.uid).child("username")
        .getData()
    } catch {
      await database.close()
      throw error
    }
    await database.close()
    guard let name = snapshot.value as? String else { return nil }
    if user.displayName != name { try await keep(name, of: user) }
    return name
  }

  /// Gives someone a name in this blog.
  ///
  /// - Throws: `DatabaseError` or `AuthError`.
  func setUserName(_ name: String, of auth: Auth) async throws {
    guard let user = auth.currentUser else { return }
    let database = try database(of: auth)
    do {
      try await BlogPaths(database.reference()).user(user.uid).child("username").setValue(name)
    } catch {
      await database.close()
      throw error
    }
    await database.close()
    if user.displayName != name { try await keep(name, of: user) }
  }

  /// Notes the name in the account, so that it is known without a connection.
  private func keep(_ name: String, of user: User) async throws {
    let request = user.createProfileChangeRequest()
    request.displayName = name
    try await request.commitChanges()
  }

  /// What to call someone who has no name yet.
  static func suggestion(for user: User?) -> String {
    user?.displayName ?? user?.email.map { String($0.prefix { $0 != "@" }) } ?? ""
  }

  private func database(of auth: Auth) throws -> Database {
    var options = DatabaseOptions()
    options.tokenProvider = auth
    options.trustRoots = configuration.trustRoots
    options.readDeadline = Self.patience
    options.writeDeadline = Self.patience
    options.maximumReconnectDelay = .seconds(1)
    let database = try Database(url: configuration.databaseURL, options: options)
    database.callbackQueue = DispatchQueue(label: "hearth.accounts")
    return database
  }
}
