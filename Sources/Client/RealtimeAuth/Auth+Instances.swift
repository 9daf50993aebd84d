internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
public import RealtimeDatabase
internal import RealtimeTransport

/// The instances that are found by name, as programs written for the original expect.
extension Auth {
  private struct Instances {
    var configuration: AuthConfiguration?
    var opened: [String: Auth] = [:]
  }

  // The original finds its instance without a context, so that one table per process is needed.
  private static let instances = NIOLockedValueBox(Instances())

  /// Says where people sign in, for ``auth()`` and all later ``auth(for:)``.
  ///
  /// Call it once, early, where the original would configure its app. It is not needed after
  /// `Database.configure(url:)` unless a key of the hosted service or another place for credentials is.
  public static func configure(_ configuration: AuthConfiguration) {
    instances.withLockedValue { $0.configuration = configuration }
  }

  /// The accounts of the configured database, the same object at each call.
  ///
  /// Before ``configure(_:)`` and `Database.configure(url:)` it belongs to the database that
  /// `Database.database()` is then; ``useEmulator(withHost:port:)`` says where people sign in. Without
  /// either, they are looked for at port 9000 of this machine.
  public static func auth() -> Auth {
    if let url = instances.withLockedValue(\.configuration?.databaseURL) { return auth(at: url) }
    return auth(ofApp: Database.defaultAppName)
  }

  /// The accounts of an app's project, the same object for all apps of one database.
  package static func auth(ofApp app: String) -> Auth {
    let project = Database.project(ofApp: app)
    guard let url = project?.databaseURL else { return auth(at: Database.unknownTarget) }
    return auth(at: url, apiKey: project?.apiKey)
  }

  private static func auth(at url: String, apiKey: String? = nil) -> Auth {
    guard let parsed = try? DatabaseURL(url) else {
      preconditionFailure("\(url) is not the URL of a database")
    }
    return auth(at: parsed.target, apiKey: apiKey)
  }

  /// The accounts for a database, the same object for all databases of one address and name.
  ///
  /// From then on, those databases prove with its tokens who uses them, unless their options name
  /// someone else for that.
  public static func auth(for database: Database) -> Auth {
    auth(at: database.address)
  }

  private static func auth(at target: ConnectionTarget, apiKey: String? = nil) -> Auth {
    let identity = target.identity
    let (auth, isNew) = instances.withLockedValue { instances -> (Auth, Bool) in
      if let auth = instances.opened[identity] { return (auth, false) }
      let configuration =
        instances.configuration ?? AuthConfiguration(databaseURL: "\(target)", apiKey: apiKey)
      let auth = Auth(openingAt: target, configuration: configuration)
      instances.opened[identity] = auth
      return (auth, true)
    }
    if isNew { TokenProviders.register(auth, for: identity) }
    return auth
  }

  /// Opens what is kept, and does without if that cannot be used, as there is nobody to tell.
  private convenience init(openingAt target: ConnectionTarget, configuration: AuthConfiguration) {
    let eventLoop = Repo.group.next()
    if case .file(let path) = configuration.persistence {
      let file = CredentialFile(path: path, eventLoop: eventLoop)
      let accounts = Result { () throws(AuthError) in try file.accounts(of: target.identity) }
      if case .success(let accounts) = accounts {
        self.init(
          target,
          configuration: configuration,
          store: file,
          accounts: accounts,
          eventLoop: eventLoop
        )
        return
      }
      if case .failure(let error) = accounts {
        DefaultLog.logger("hearth.auth").error("\(error)")
      }
    }
    self.init(
      target,
      configuration: configuration,
      store: MemoryCredentials(),
      accounts: [],
      eventLoop: eventLoop
    )
  }
}
