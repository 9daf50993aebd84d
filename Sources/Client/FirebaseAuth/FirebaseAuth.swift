// Lets a source file that says `import FirebaseAuth` compile unchanged. The original brings
// Foundation along, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeAuth

/// Finding accounts by an app.
extension Auth {
  /// The accounts of an app's project, the same object for all apps of one database.
  public static func auth(app: FirebaseApp) -> Auth { auth(ofApp: app.name) }
}
