// Lets a source file that says `import FirebaseAuth` compile unchanged. The original re-exports
// Foundation, and programs written for it rely on that.
@_exported public import FirebaseCore
@_exported public import Foundation
@_exported public import RealtimeAuth

/// Looking accounts up by app.
extension Auth {
  /// The accounts of an app's project; all apps of one database share the same object.
  public static func auth(app: FirebaseApp) -> Auth { auth(ofApp: app.name) }
}
