// The original brings Foundation along, and programs written for it rely on that.
@_exported public import Foundation
internal import NIOConcurrencyHelpers
internal import RealtimeDatabase

/// A project that a program uses, as programs written for the original expect to find it.
///
/// ```swift
/// FirebaseApp.configure()
/// let database = Database.database()
/// ```
///
/// It says where the databases of a name are, and knows nothing of the other services.
public final class FirebaseApp: Sendable {
  /// The name by which the app is found.
  public let name: String
  private let values: FirebaseOptions.Values

  // The original finds its apps without a context, so that one table per process is needed.
  private static let apps = NIOLockedValueBox([String: FirebaseApp]())

  private init(name: String, values: FirebaseOptions.Values) {
    self.name = name
    self.values = values
  }

  /// What the app was configured with; a change of it has no effect.
  public var options: FirebaseOptions { FirebaseOptions(values) }

  // MARK: Configuring

  /// Configures the default app with the file `GoogleService-Info.plist`, if there is one.
  ///
  /// It is looked for beside the program and in the working directory. Without it the app has no
  /// project: `Database.configure(url:)` or `useEmulator(withHost:port:)` say where the database is.
  /// It is a programmer error to configure an app twice: it traps.
  public static func configure() {
    configure(name: Database.defaultAppName, values: FirebaseOptions.defaultValues())
  }

  /// Configures the default app.
  ///
  /// It is a programmer error to configure an app twice: it traps.
  public static func configure(options: FirebaseOptions) {
    configure(name: Database.defaultAppName, values: options.values)
  }

  /// Configures another app.
  ///
  /// It is a programmer error to configure an app twice: it traps.
  public static func configure(name: String, options: FirebaseOptions) {
    configure(name: name, values: options.values)
  }

  private static func configure(name: String, values: FirebaseOptions.Values?) {
    let app = FirebaseApp(name: name, values: values ?? FirebaseOptions.Values())
    let isNew = apps.withLockedValue { apps in
      guard apps[name] == nil else { return false }
      apps[name] = app
      return true
    }
    precondition(isNew, "the app \(name) has been configured already")
    // Without a project, what `Database.configure(url:)` has said still counts.
    guard let values else { return }
    let project = Database.Project(databaseURL: values.rootURL, apiKey: values.apiKey)
    Database.configure(project, app: name)
  }

  // MARK: Finding

  /// The default app, or nil before it is configured.
  public static func app() -> FirebaseApp? { app(name: Database.defaultAppName) }

  /// The app of a name, or nil before it is configured.
  public static func app(name: String) -> FirebaseApp? { apps.withLockedValue { $0[name] } }

  /// All apps by their names, or nil when there are none.
  public static var allApps: [String: FirebaseApp]? {
    let apps = apps.withLockedValue { $0 }
    return apps.isEmpty ? nil : apps
  }

  // MARK: Ending

  /// Forgets the app and closes its databases.
  ///
  /// - Returns: Whether it was there.
  @discardableResult
  public func delete() async -> Bool {
    let isThere = Self.apps.withLockedValue { apps in
      guard apps[name] === self else { return false }
      apps[name] = nil
      return true
    }
    guard isThere else { return false }
    for database in Database.forget(app: name) { await database.close() }
    return true
  }

  /// Forgets the app and closes its databases.
  ///
  /// - Parameter completion: Gets whether it was there; runs on the main queue.
  @preconcurrency
  public func delete(_ completion: @escaping @MainActor @Sendable (Bool) -> Void) {
    Task {
      let isThere = await delete()
      await completion(isThere)
    }
  }
}
