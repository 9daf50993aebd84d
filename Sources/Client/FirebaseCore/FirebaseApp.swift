// The original re-exports Foundation, and programs written for it rely on that.
@_exported public import Foundation
internal import NIOConcurrencyHelpers
internal import RealtimeDatabase

/// A program's Firebase project, as programs written for the original expect it.
///
/// ```swift
/// FirebaseApp.configure()
/// let database = Database.database()
/// ```
///
/// It configures the databases and accounts of its name; it does not cover other services.
public final class FirebaseApp: Sendable {
  /// The name of the app, by which it is looked up.
  public let name: String
  // Safety: a copy that no other code has, and that is never changed.
  private nonisolated(unsafe) let configured: FirebaseOptions

  // Programs written for the original look apps up globally, which takes one table per process.
  private static let apps = NIOLockedValueBox([String: FirebaseApp]())

  private init(name: String, options: FirebaseOptions) {
    self.name = name
    configured = options.copy
  }

  /// A copy of the options that the app was configured with; changing it has no effect.
  public var options: FirebaseOptions { configured.copy }

  // MARK: Configuring

  /// Configures the default app with the file `GoogleService-Info.plist`, if there is one.
  ///
  /// The file is looked for beside the program and in the working directory. Without it the app has
  /// no project, and `Database.configure(url:)` or `useEmulator(withHost:port:)` must name the
  /// database. Configuring an app twice is a programmer error and traps.
  public static func configure() {
    configure(Database.defaultAppName, with: FirebaseOptions.defaultOptions())
  }

  /// Configures the default app with the given options.
  ///
  /// Configuring an app twice is a programmer error and traps.
  public static func configure(options: FirebaseOptions) {
    configure(Database.defaultAppName, with: options)
  }

  /// Configures an app with a name.
  ///
  /// Configuring an app twice is a programmer error and traps.
  public static func configure(name: String, options: FirebaseOptions) {
    configure(name, with: options)
  }

  private static func configure(_ name: String, with options: FirebaseOptions?) {
    let none = FirebaseOptions(googleAppID: "", gcmSenderID: "")
    let app = FirebaseApp(name: name, options: options ?? none)
    let isNew = apps.withLockedValue { apps in
      guard apps[name] == nil else { return false }
      apps[name] = app
      return true
    }
    CallerContract.require(isNew, "the app \(name) is already configured")
    // Without a project, the settings of `Database.configure(url:)` stay in effect.
    guard let options else { return }
    let project = Database.Project(databaseURL: options.rootURL, apiKey: options.apiKey)
    Database.configure(project, app: name)
  }

  // MARK: Finding

  /// The default app, or nil if it has not been configured.
  public static func app() -> FirebaseApp? { app(name: Database.defaultAppName) }

  /// The app with a name, or nil if it has not been configured.
  public static func app(name: String) -> FirebaseApp? { apps.withLockedValue { $0[name] } }

  /// All apps by name, or nil if there are none.
  public static var allApps: [String: FirebaseApp]? {
    let apps = apps.withLockedValue { $0 }
    return apps.isEmpty ? nil : apps
  }

  // MARK: Ending

  /// Removes the app and closes its databases.
  ///
  /// - Returns: Whether the app existed.
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

  /// Removes the app and closes its databases.
  ///
  /// - Parameter completion: Gets whether the app existed; runs on the main queue.
  @preconcurrency
  public func delete(_ completion: @escaping @MainActor @Sendable (Bool) -> Void) {
    Task {
      let isThere = await delete()
      await completion(isThere)
    }
  }
}
