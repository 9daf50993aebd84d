internal import RealtimeTransport

/// A request to read or to replace the security rules of a database.
struct RulesRequest {
  enum Action {
    /// Show the document as it was written.
    case read
    /// Show the document as JSON, without comments.
    case readStrictly(isPretty: Bool)
    /// Put a document in force, or only look for mistakes in it.
    case replace(source: String, isRehearsal: Bool)
  }

  private static let path = "/.settings/rules.json"

  let credential: RESTCredential
  let action: Action

  /// Whether a request is for the rules.
  static func isMeant(by request: HTTPRequest) -> Bool {
    request.path.split(separator: "/").joined(separator: "/") == path.dropFirst()
  }

  /// Reads a request.
  ///
  /// - Throws: ``RESTError`` when something about it is wrong, other than the rules.
  init(_ request: HTTPRequest) throws(RESTError) {
    credential = try RESTCredential(request)
    switch try RESTRequest.method(of: request) {
    case .get, .head:
      switch request.parameter("format") {
      case nil: action = .read
      case "strict": action = .readStrictly(isPretty: request.parameter("print") == "pretty")
      case _?: throw RESTError(400, "format must be strict")
      }
    case .put:
      guard let source = String(validating: request.body, as: UTF8.self) else {
        throw RESTError(400, "Line 1: the rules are no text in UTF-8")
      }
      if source.allSatisfy(\.isWhitespace) { throw RESTError.missingData }
      action = .replace(source: source, isRehearsal: request.parameter("dryRun") == "true")
    case .post, .patch, .delete, .options:
      throw RESTError(405, "the method must be GET or PUT")
    }
  }
}
