internal import Foundation

/// The settings of a project, under the original's names.
///
/// Only ``databaseURL``, ``projectID`` and ``apiKey`` have an effect here; the others are kept for
/// programs that read them.
public final class FirebaseOptions {
  struct Values: Sendable {
    var googleAppID = ""
    var gcmSenderID = ""
    var databaseURL: String?
    var projectID: String?
    var apiKey: String?
    var clientID: String?
    var storageBucket: String?
    var bundleID = Bundle.main.bundleIdentifier ?? ""

    /// The URL of the project's default database.
    var rootURL: String? {
      databaseURL ?? projectID.map { "https://\($0)-default-rtdb.firebaseio.com" }
    }
  }

  private(set) var values: Values

  init(_ values: Values) {
    self.values = values
  }

  /// Makes options without a project; set ``databaseURL`` or ``projectID`` to name one.
  public convenience init(googleAppID: String, gcmSenderID: String) {
    self.init(Values(googleAppID: googleAppID, gcmSenderID: gcmSenderID))
  }

  /// Reads a file like `GoogleService-Info.plist`; nil if the file is missing or invalid.
  ///
  /// - Parameter plistPath: The path of the file.
  public convenience init?(contentsOfFile plistPath: String) {
    guard let data = FileManager.default.contents(atPath: plistPath),
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil),
      let members = list as? [String: Any]
    else { return nil }
    var values = Values()
    values.googleAppID = members["GOOGLE_APP_ID"] as? String ?? ""
    values.gcmSenderID = members["GCM_SENDER_ID"] as? String ?? ""
    values.databaseURL = members["DATABASE_URL"] as? String
    values.projectID = members["PROJECT_ID"] as? String
    values.apiKey = members["API_KEY"] as? String
    values.clientID = members["CLIENT_ID"] as? String
    values.storageBucket = members["STORAGE_BUCKET"] as? String
    if let bundleID = members["BUNDLE_ID"] as? String { values.bundleID = bundleID }
    self.init(values)
  }

  /// The options that ``FirebaseApp/configure()`` uses, or nil if there is no such file.
  public static func defaultOptions() -> FirebaseOptions? {
    defaultValues().map(FirebaseOptions.init)
  }

  static func defaultValues() -> Values? {
    let name = "GoogleService-Info"
    let beside = Bundle.main.path(forResource: name, ofType: "plist")
    let paths = [beside, "\(name).plist"].compactMap(\.self)
    return paths.lazy.compactMap { FirebaseOptions(contentsOfFile: $0)?.values }.first
  }

  /// The URL of the default database; if nil, it follows from ``projectID``.
  public var databaseURL: String? {
    get { values.databaseURL }
    set { values.databaseURL = newValue }
  }

  /// The identifier of the project; it determines the default database when ``databaseURL`` is nil.
  public var projectID: String? {
    get { values.projectID }
    set { values.projectID = newValue }
  }

  /// The key that the hosted service requires for signing in.
  public var apiKey: String? {
    get { values.apiKey }
    set { values.apiKey = newValue }
  }

  /// The app's identifier at the hosted service.
  public var googleAppID: String {
    get { values.googleAppID }
    set { values.googleAppID = newValue }
  }

  /// The number of the project.
  public var gcmSenderID: String {
    get { values.gcmSenderID }
    set { values.gcmSenderID = newValue }
  }

  /// The app's client identifier for signing in with Google.
  public var clientID: String? {
    get { values.clientID }
    set { values.clientID = newValue }
  }

  /// The name of the project's storage bucket.
  public var storageBucket: String? {
    get { values.storageBucket }
    set { values.storageBucket = newValue }
  }

  /// The identifier of the program's bundle.
  public var bundleID: String {
    get { values.bundleID }
    set { values.bundleID = newValue }
  }
}
