// Lets a source file that says `import FirebaseDatabase` compile unchanged. The original re-exports
// Foundation, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeDatabase

/// Looking databases up by app.
extension Database {
  /// The database of an app's project; every call returns the same one.
  ///
  /// Without a project, it is the database that `useEmulator(withHost:port:)` chooses. A database
  /// that was looked up by app stays open until the app is deleted.
  public static func database(app: FirebaseApp) -> Database { database(ofApp: app.name) }

  /// The app's database at a URL; all URLs of one database give the same instance.
  ///
  /// Passing anything other than the URL of a database is a programmer error and traps.
  public static func database(app: FirebaseApp, url: String) -> Database {
    database(ofApp: app.name, url: url)
  }

  /// The app that the database belongs to; nil if it was opened without one or the app was deleted.
  public var app: FirebaseApp? { appName.flatMap { FirebaseApp.app(name: $0) } }
}
