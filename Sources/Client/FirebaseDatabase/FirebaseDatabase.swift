// Lets a source file that says `import FirebaseDatabase` compile unchanged. The original brings
// Foundation along, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeDatabase

/// Finding databases by an app.
extension Database {
  /// The database of an app's project, the same one at each call.
  ///
  /// Without a project, it is the one that `useEmulator(withHost:port:)` chooses. A database that was
  /// found by an app stays open until the app is deleted.
  public static func database(app: FirebaseApp) -> Database { database(ofApp: app.name) }

  /// The database at a URL, as an app of its own uses it: the same one for all URLs of one database.
  ///
  /// It is a programmer error to pass what is not the URL of a database: it traps.
  public static func database(app: FirebaseApp, url: String) -> Database {
    database(ofApp: app.name, url: url)
  }

  /// The app whose database it is; nil when it was opened without one, or the app was deleted.
  public var app: FirebaseApp? { appName.flatMap { FirebaseApp.app(name: $0) } }
}
