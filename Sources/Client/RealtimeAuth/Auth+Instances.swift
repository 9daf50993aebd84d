internal import Logging
internal import NIOConcurrencyHelpers
internal import NIOCore
public import RealtimeDatabase
internal import RealtimeTransport

/// Instances that are looked up by database, as programs written for the original expect.
extension Auth {
  private struct Instances {
    var configuration: AuthConfiguration?
    var opened: [String: Auth] = [:]
  }

  // Programs written for the original look instances up globally: one table serves the process.
  private static let instances = NIOLockedValueBox(Instances())

  /// Sets the configuration for ``auth()`` and for all later calls of ``auth(for:)``.
  ///
  /// Call it once, early, where a program for the original configures its app. After
  /// `Database.configure(url:)`, it is needed only to set a key of the hosted service or another
  /// location for credentials.
  public static func configure(_ configuration: AuthConfiguration) {
    instances.withLockedValue { $0.configuration = configuration }
  }

  /// The accounts of the configured database; every call returns the same object.
  ///
  /// Before ``configure(_:)`` and `Database.configure(url:)`, it belongs to the database that
  /// `Database.database()` returns at that time; ``useEmulator(withHost:port:)`` sets the server
  /// for the accounts. Without either, that server is port 9000 of this machine.
  public static func auth() -> Auth {
    if let url = instances.withLockedValue(\.configuration?.databaseURL) { return auth(at: url) }
    return auth(ofApp: Database.defaultAppName)
  }

  /// The accounts of an app's project; all apps of one database share the same object.
  package static func auth(ofApp app: String) -> Auth {
    let project = Database.project(ofApp: app)
    guard let url = project?.databaseURL else { return auth(at: Database.unknownTarget) }
    return auth(at: url, apiKey: project?.apiKey)
  }

  private static func auth(at url: String, apiKey: String? = nil) -> Auth {
    guard let parsed = try? DatabaseURL(url) else {
      CallerContract.fail("\(url) is not a database URL")
    }
    return auth(at: parsed.target, apiKey: apiKey)
  }

  /// The accounts for a database; all databases with the same address and name share one object.
  ///
  /// From then on, those databases present its tokens, unless their options name another provider.
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

  /// Loads the stored credentials; if they cannot be used, logs that and starts without them.
  private convenience init(openingAt target: ConnectionTarget, configuration: AuthConfiguration) {
    let eventLoop = Repo.group.next()
    var store = configuration.makeStore(on: eventLoop)
    var accounts: [Account] = []
    do throws(AuthError) {
      accounts = try store.read().accounts(of: target.identity)
    } catch {
      DefaultLog.logger("hearth.auth").error("\(error)")
      store = MemoryCredentials()
    }
    self.init(
      target,
      configuration: configuration,
      store: store,
      accounts: accounts,
      eventLoop: eventLoop
    )
  }
}
