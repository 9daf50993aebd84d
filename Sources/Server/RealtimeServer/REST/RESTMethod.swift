/// What a REST request does.
enum RESTMethod: String, CaseIterable {
  /// Reads.
  case get = "GET"
  /// Reads, for the header only.
  case head = "HEAD"
  /// Replaces.
  case put = "PUT"
  /// Adds a child with a new key.
  case post = "POST"
  /// Changes children, each by its path.
  case patch = "PATCH"
  /// Removes.
  case delete = "DELETE"
  /// Asks what is possible.
  case options = "OPTIONS"

  var isRead: Bool {
    switch self {
    case .get, .head: true
    case .put, .post, .patch, .delete, .options: false
    }
  }

  /// What stands in an `Allow` line.
  static let allowed = allCases.map(\.rawValue).joined(separator: ", ")
}
