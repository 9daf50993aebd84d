internal import Foundation

/// The settings of a project, under the original's names.
///
/// Only ``databaseURL``, ``projectID`` and ``apiKey`` have an effect here; the others are kept for
/// programs that read them.
public final class FirebaseOptions {
  /// The URL of the default database; if nil, it follows from ``projectID``.
  public var databaseURL: String?
  /// The identifier of the project; it determines the default database when ``databaseURL`` is nil.
  public var projectID: String?
  /// The key that the hosted service requires for signing in.
  public var apiKey: String?
  /// The app's identifier at the hosted service.
  public var googleAppID: String
  /// The number of the project.
  public var gcmSenderID: String
  /// The app's client identifier for signing in with Google.
  public var clientID: String?
  /// The name of the project's storage bucket.
  public var storageBucket: String?
  /// The identifier of the program's bundle.
  public var bundleID = Bundle.main.bundleIdentifier ?? ""

  /// Makes options without a project; set ``databaseURL`` or ``projectID`` to name one.
  public init(googleAppID: String, gcmSenderID: String) {
    self.googleAppID = googleAppID
    self.gcmSenderID = gcmSenderID
  }

  /// Reads a file like `GoogleService-Info.plist`; nil if the file is missing or invalid.
  ///
  /// - Parameter plistPath: The path of the file.
  public convenience init?(contentsOfFile plistPath: String) {
    guard let data = FileManager.default.contents(atPath: plistPath),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
      let members = list as? [String: Any]
    else { return nil }
    self.init(
      googleAppID: members["GOOGLE_APP_ID"] as? String ?? "",
      gcmSenderID: members["GCM_SENDER_ID"] as? String ?? ""
    )
    databaseURL = members["DATABASE_URL"] as? String
    projectID = members["PROJECT_ID"] as? String
    apiKey = members["API_KEY"] as? String
    clientID = members["CLIENT_ID"] as? String
    storageBucket = members["STORAGE_BUCKET"] as? String
    if let bundleID = members["BUNDLE_ID"] as? String { self.bundleID = bundleID }
  }

  /// A copy, which later changes of these options do not reach.
  var copy: FirebaseOptions {
    let copy = FirebaseOptions(googleAppID: googleAppID, gcmSenderID: gcmSenderID)
    copy.databaseURL = databaseURL
    copy.projectID = projectID
    copy.apiKey = apiKey
    copy.clientID = clientID
    copy.storageBucket = storageBucket
    copy.bundleID = bundleID
    return copy
  }

  /// The options that ``FirebaseApp/configure()`` uses, or nil if there is no such file.
  public static func defaultOptions() -> FirebaseOptions? {
    let name = "GoogleService-Info"
    let beside = Bundle.main.path(forResource: name, ofType: "plist")
    let paths = [beside, "\(name).plist"].compactMap(\.self)
    return paths.lazy.compactMap { FirebaseOptions(contentsOfFile: $0) }.first
  }

  /// The URL of the project's default database.
  var rootURL: String? {
    databaseURL ?? projectID.map { "https://\($0)-default-rtdb.firebaseio.com" }
  }
}
