import BlogModel
import Dispatch
import Foundation
import RealtimeAuth
import RealtimeCore
import RealtimeDatabase
import RealtimeTransport

/// Signs people in to a remote blog and manages their user names there.
struct RemoteAccounts: Sendable {
  /// The sign-in server and the storage of the credentials.
  let configuration: AuthConfiguration

  /// How long the database may take to return a name, while a person waits for it.
  var patience = Duration.seconds(10)

  /// Signs in to an existing account.
  ///
  /// - Throws: `AuthError`.
  func signIn(email: String, password: String) async throws -> Auth {
    let auth = try nobody()
    try await auth.signIn(withEmail: email, password: password)
    return auth
  }

  /// Creates an account and writes the user name of its owner.
  ///
  /// - Throws: `AuthError`, or `DatabaseError` when the account was created but has no name.
  func signUp(_ author: Author, email: String, password: String) async throws -> Auth {
    let auth = try nobody()
    try await auth.createUser(withEmail: email, password: password)
    try await setUserName(author.name, of: auth)
    return auth
  }

  /// The stored session of a user on this machine; without a user if they have signed out.
  ///
  /// - Throws: `AuthError` when the credential file cannot be used.
  func open(uid: String) throws -> Auth {
    var configuration = configuration
    configuration.account = uid
    return try Auth(configuration)
  }

  /// A session without a user, so that signing in does not sign out another user.
  private func nobody() throws -> Auth { try open(uid: "") }

  /// A user's name in this blog; nil if they have not chosen one.
  ///
  /// - Throws: `DatabaseError` when the database cannot be read.
  func userName(of auth: Auth) async throws -> String? {
    guard let user = auth.currentUser else { return nil }
    let name = try await withName(of: user, auth) { try await $0.getData().value as? String }
    guard let name else { return nil }
    if user.displayName != name { try await keep(name, of: user) }
    return name
  }

  /// Sets a user's name in this blog.
  ///
  /// - Throws: `DatabaseError` or `AuthError`.
  func setUserName(_ name: String, of auth: Auth) async throws {
    guard let user = auth.currentUser else { return }
    _ = try await withName(of: user, auth) { try await $0.setValue(name) }
    if user.displayName != name { try await keep(name, of: user) }
  }

  /// Stores the name in the account, so that it is known without a connection.
  func keep(_ name: String, of user: User) async throws {
    let request = user.createProfileChangeRequest()
    request.displayName = name
    try await request.commitChanges()
  }

  /// The suggested name for a user who has not chosen one.
  static func suggestion(for user: User?) -> String {
    user?.displayName ?? user?.email.map { String($0.prefix { $0 != "@" }) } ?? ""
  }

  /// Uses the location of a user's name, over a connection that is then closed.
  private func withName<Result>(
    of user: User,
    _ auth: Auth,
    _ body: (DatabaseReference) async throws -> Result
  ) async throws -> Result {
    var options = DatabaseOptions()
    options.tokenProvider = auth
    options.trustRoots = configuration.trustRoots
    options.readDeadline = patience
    options.writeDeadline = patience
    options.maximumReconnectDelay = .seconds(1)
    let database = try Database(url: configuration.databaseURL, options: options)
    database.callbackQueue = DispatchQueue(label: "hearth.accounts")
    do {
      let result = try await body(
        BlogPaths(database.reference()).user(user.uid).child("username")
      )
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }
}

extension CommonOptions {
  /// The sign-in configuration of the database; nil if the system determines the user.
  ///
  /// - Throws: ``CommandFailure`` when the URL or the certificates cannot be used, or there is no
  ///   home directory.
  func accounts() throws(CommandFailure) -> AuthConfiguration? {
    guard let database, !database.hasPrefix("unix:") else { return nil }
    do {
      _ = try DatabaseURL(database)
      if let caFile { try TrustRoots.file(caFile).check() }
    } catch {
      throw CommandFailure(.usage, "\(error)")
    }
    var configuration = AuthConfiguration(databaseURL: database, apiKey: apiKey)
    configuration.trustRoots = trustRoots
    configuration.persistence = .file("\(try paths().state)/\(AuthConfiguration.fileName)")
    configuration.account = account
    return configuration
  }

  var trustRoots: DatabaseOptions.TrustRoots {
    caFile.map { DatabaseOptions.TrustRoots.file($0) } ?? .system
  }

  /// The signed-in user of the database; nil if there is none and the system determines the user.
  ///
  /// - Throws: ``CommandFailure`` when `--account` names someone who is not signed in.
  func signedIn() throws -> Auth? {
    guard let configuration = try accounts() else {
      if let account {
        throw CommandFailure(
          .usage,
          "the local database has no accounts; --account \(account) needs --database or --profile"
        )
      }
      return nil
    }
    guard user == nil else { return nil }
    let auth = try Auth(configuration)
    if auth.currentUser != nil { return auth }
    if let account {
      throw CommandFailure(
        .notPermitted,
        "nobody is signed in as \(account) at \(configuration.databaseURL); see hearth accounts"
      )
    }
    return nil
  }

  /// Why the user's name stays as it is; nil where the account or the local database keeps it.
  ///
  /// - Throws: ``CommandFailure`` or `AuthError` when the user cannot be determined.
  func nameRefusal() throws -> String? {
    if user != nil { return "your name here is that of --user" }
    guard try accounts() != nil, try signedIn() == nil else { return nil }
    return "you have no account here yet; \"hearth sign-in\" signs in"
  }

  /// The signed-in user, or else the user of this system.
  ///
  /// - Throws: ``CommandFailure`` or `Author.NameError` when that name cannot be used.
  func author(_ auth: Auth?) throws -> Author {
    guard let user = auth?.currentUser else { return try author() }
    let suggestion = RemoteAccounts.suggestion(for: user)
    return Author(uid: user.uid, name: suggestion.isEmpty ? user.uid : suggestion)
  }

  /// Sets the credentials for a database that is about to be opened, and returns the user.
  ///
  /// That is the signed-in one, or else the user of this system.
  ///
  /// - Throws: ``CommandFailure`` or `AuthError` when the user cannot be determined.
  func signIn(_ configuration: inout DatabaseOptions) throws -> Author {
    configuration.trustRoots = trustRoots
    let auth = try signedIn()
    configuration.tokenProvider = auth
    return try author(auth)
  }

  /// What was refused, and what the user can do about it.
  func refusal(_ error: DatabaseError) -> String {
    let uid = (try? author(signedIn()).uid) ?? ""
    let kept = (try? paths()).map(RefusedRequests.init)
    let advice = signInAdvice
    let refusal = DatabaseErrorText(uid: uid, signIn: { advice }) { kept?.keep($0) }
    return refusal.text(error, for: .read, at: error.path ?? "/")
  }

  /// How to sign in; nil for somebody with an account, and where there are no accounts.
  private var signInAdvice: String? {
    guard let configuration = try? accounts(), (try? signedIn()) == nil else { return nil }
    if user != nil, let kept = try? Auth(configuration).currentUser {
      let name = kept.displayName ?? kept.email ?? kept.uid
      return "without --user, you are signed in as \(name)"
    }
    let place = profile.map { "--profile \($0)" } ?? "--database '\(configuration.databaseURL)'"
    return "\"hearth sign-in --email ADDRESS \(place)\" signs in"
  }

  /// Prints who has signed in.
  ///
  /// - Throws: ``CommandFailure`` if the credentials could not be stored, so that only this process
  ///   has them.
  func tell(_ auth: Auth, name: String) throws {
    let uid = auth.currentUser?.uid ?? ""
    try requireStored(true, of: uid, orElse: "\(name) is signed in only until this command ends")
    confirm(
      "signed in as \(name)",
      json: .object(("uid", .string(uid)), ("name", .string(name)))
    )
  }

  /// Checks that the file of the credentials has an account, or no longer has it.
  ///
  /// - Throws: ``CommandFailure`` with the consequence if it could not be written.
  func requireStored(_ isStored: Bool, of uid: String, orElse consequence: String) throws {
    let accounts = try accounts()?.keptAccounts() ?? []
    guard accounts.contains(where: { $0.uid == uid }) != isStored else { return }
    let file = "\(try paths().state)/\(AuthConfiguration.fileName)"
    throw CommandFailure(
      .failed,
      "\(consequence), since \(file) cannot be written; \"hearth doctor\" says what to do"
    )
  }
}

extension RemoteAccounts {
  /// - Throws: ``CommandFailure`` when the options name the local database, which has no accounts.
  init(_ options: CommonOptions) throws(CommandFailure) {
    guard let configuration = try options.accounts() else {
      throw CommandFailure(
        .usage,
        "the local database needs no account; name another with --database or --profile"
      )
    }
    self.init(configuration: configuration, patience: .seconds(options.timeout))
  }
}
