internal import RealtimeCore
internal import RealtimeTransport

struct RESTRequest: Sendable {
  enum Write: Sendable {
    case set(Path, Node)
    case merge(Path, [Change])
    case remove(Path)
    /// Add a child, whose key has yet to be generated.
    case append(Path, Node)
  }

  let credential: RESTCredential
  let method: RESTMethod
  let path: Path
  let options: RESTOptions
  let query: Query?
  /// The hashes of which the data must have one; a star stands for any data.
  let requiredHashes: [String]
  /// The hashes that the data must not have; a star stands for any data.
  let knownTags: [String]
  /// Whether the response should include the version of the data.
  let wantsTag: Bool
  /// Whether the response should be an event stream that follows the data.
  let wantsStream: Bool
  let peer: Peer
  let connection: HTTPRequest.Connection?
  /// Whether the client is still there; nil for one that is not watched.
  private let reader: HTTPRequest.Reader?
  private let body: [UInt8]
  /// The maximum nesting of JSON in the body.
  private let depthLimit: Int
  var bodyLength: Int { body.count }
  /// Whether the client that asked to read has left, so that nobody needs the answer.
  var isGivenUp: Bool { method.isRead && reader?.isGone == true }

  /// The maximum number of versions in one condition.
  private static let tagLimit = 16

  /// Parses a request; nil if its path is not a REST path.
  init?(
    _ request: HTTPRequest,
    from sender: Result<RESTCredential, RESTError>,
    depthLimit: Int = Limits.jsonDepth
  ) throws(RESTError) {
    guard let path = try RESTPath.location(in: request.path) else { return nil }
    self.path = path
    credential = try sender.get()
    method = try Self.method(of: request)
    options = try RESTOptions(request, method: method)
    query =
      method.isRead
      ? try QueryParameters.query(of: request.parameters, isShallow: options.isShallow) : nil
    let required = request.headerList("if-match").filter { !$0.isEmpty }
    let known = request.headerList("if-none-match").filter { !$0.isEmpty }
    guard required.count <= Self.tagLimit, known.count <= Self.tagLimit else {
      throw RESTError(400, reason: "a condition names more than \(Self.tagLimit) versions")
    }
    guard method.isRead || !required.isEmpty || request.header("if-match") == nil else {
      throw RESTError(400, reason: "if-match names no version")
    }
    guard method.isRead || request.header("if-none-match") == nil else {
      let reason = "if-none-match is for reads; \"if-match: null_etag\" writes where nothing is"
      throw RESTError(400, reason: reason)
    }
    requiredHashes = required.map { EntityTag.hash(ofText: $0) }
    knownTags = method.isRead ? known : []
    let flag = request.header("X-Firebase-ETag")?.lowercased() == "true"
    wantsTag = flag || !knownTags.isEmpty
    wantsStream =
      method == .get
      && request.headerList("Accept").contains(where: Self.acceptsStream)
    body = request.body
    peer = request.peer
    connection = request.connection
    reader = request.reader
    self.depthLimit = depthLimit
    if !required.isEmpty {
      if options.print == .silent {
        throw RESTError(400, reason: "if-match cannot be combined with print=silent")
      }
      if method == .post || method == .patch {
        throw RESTError(400, reason: "if-match is for PUT and DELETE only")
      }
    }
  }

  /// Whether an element of `Accept` names event streams, and does not exclude them.
  private static func acceptsStream(_ element: String) -> Bool {
    let parts = element.lowercased().split(separator: ";").map { $0.filter { !$0.isWhitespace } }
    return parts.first == "text/event-stream"
      && !parts.contains { $0.hasPrefix("q=") && Double($0.dropFirst(2)) == 0 }
  }

  /// The method, which a header or a parameter of a POST may override.
  static func method(of request: HTTPRequest) throws(RESTError) -> RESTMethod {
    var name = request.method
    if name == "POST",
      let override = request.header("X-HTTP-Method-Override")
        ?? request.parameter("x-http-method-override")
    {
      name = override.uppercased()
    }
    guard let method = RESTMethod(rawValue: name) else {
      throw RESTError(405, reason: "the method must be one of \(RESTMethod.allowed)")
    }
    return method
  }

  /// The write that the body describes, or nil for a request that writes nothing; throws if the
  /// body does not suit the method.
  ///
  /// - Complexity: O(body)
  func write() throws(RESTError) -> Write? {
    switch method {
    case .get, .head, .options: return nil
    case .delete: return .remove(path)
    case .put, .post, .patch: break
    }
    let json = try json()
    if method == .patch, json.members == nil {
      // firebase-tools removes in this way.
      guard json == .null else { throw RESTError.invalidData }
      return .remove(path)
    }
    do throws(NodeError) {
      return try checked(try write(json))
    } catch {
      throw invalidData(error.description)
    }
  }

  private func write(_ json: JSONValue) throws(NodeError) -> Write {
    if method == .patch { return .merge(path, try Change.update(json: json)) }
    if method == .post { return .append(path, try Node(json: json)) }
    return .set(path, try path.isPriority ? Node(priority: json) : Node(json: json))
  }

  /// Checks keys here, where the text is at hand for the place of one that is not valid.
  private func checked(_ write: Write) throws(NodeError) -> Write {
    let problem: String?
    switch write {
    case .set(_, let node), .append(_, let node):
      problem = Validation.problem(with: node, at: .root)
    case .merge(_, let changes):
      problem = changes.lazy.compactMap { Validation.problem(with: $0.node, at: $0.path) }.first
    case .remove: problem = nil
    }
    if let problem { throw NodeError(description: problem) }
    return write
  }

  /// The error for data that the database does not accept, in the words that tools look for.
  ///
  /// - Complexity: O(body)
  private func invalidData(_ reason: String) -> RESTError {
    guard let place = InvalidKey.first(in: body, isUpdate: method == .patch) else {
      return RESTError(400, reason: "Invalid data; \(reason)")
    }
    return RESTError(
      400,
      reason: "Invalid data; couldn't parse key beginning at \(place.line):\(place.column)."
        + " Key value can't be empty or contain $ # [ ] / or ."
    )
  }

  private func json() throws(RESTError) -> JSONValue {
    if body.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { throw RESTError.missingData }
    do throws(JSONError) {
      return try JSONParser.parse(body, depthLimit: depthLimit)
    } catch {
      throw RESTError.invalidData
    }
  }

  /// Whether the client already has the data with a hash.
  func knows(_ hash: String) -> Bool {
    knownTags.contains { $0 == "*" ? !hash.isEmpty : EntityTag.hash(ofText: $0) == hash }
  }
}

/// Finds the location in the path of a REST request.
enum RESTPath {
  private static let suffix = ".json"

  /// The location, or nil when the path does not end like a REST path.
  ///
  /// - Throws: ``RESTError`` when an escape is malformed, or the name is one that data cannot have.
  static func location(in path: String) throws(RESTError) -> Path? {
    guard path.hasSuffix(suffix) else { return nil }
    var keys: [ChildKey] = []
    for segment in path.utf8.dropLast(suffix.utf8.count).split(separator: UInt8(ascii: "/")) {
      guard let text = PercentEncoding.decode(String(Substring(segment))) else {
        throw RESTError(400, reason: "Invalid path: Invalid token in path")
      }
      keys.append(ChildKey(text))
    }
    if let first = keys.first?.text, first.hasPrefix("."), keys[0] != .priority {
      throw RESTError(404, reason: "this server has nothing at /\(first)")
    }
    return Path(keys)
  }
}

/// The size limits of the REST API, each of which stands for a maximum time.
enum WriteSize: String, CaseIterable {
  /// One second.
  case tiny
  /// Ten seconds.
  case small
  /// Thirty seconds.
  case medium
  /// One minute.
  case large
  case unlimited

  /// The maximum time for a write, or nil if there is no limit.
  var target: Duration? {
    switch self {
    case .tiny: .seconds(1)
    case .small: .seconds(10)
    case .medium: .seconds(30)
    case .large: .seconds(60)
    case .unlimited: nil
    }
  }

  /// Whether a write is expected to stay within the limit.
  ///
  /// - Complexity: O(values), but never more than the limit allows.
  func allows(_ estimate: (_ limit: Duration) -> Duration) -> Bool {
    target.map { estimate($0) <= $0 } ?? true
  }
}

/// Estimates how long a write takes, by the number of values added and removed, and by its length.
///
/// The rates are those of a modest machine on a busy day, with rules and an index. A client that
/// sets a limit wants to avoid keeping others waiting, and splits up a write that is refused.
struct WriteEstimate {
  /// The number of values written or removed per second.
  private static let valuesPerSecond = 100_000
  /// The number of JSON bytes accepted per second.
  private static let bytesPerSecond = 8 * 1_024 * 1_024

  private var measure: NodeMeasure
  private let bytes: Int

  /// Begins an estimate for a request of so many bytes, which need not be exact beyond the limit.
  init(upTo limit: Duration, bytes: Int) {
    measure = NodeMeasure(values: Int(limit.components.seconds) * Self.valuesPerSecond)
    self.bytes = bytes
  }

  /// The estimated time; if it exceeds the limit, it may be too low, but is still above the limit.
  var duration: Duration {
    max(
      .seconds(Double(measure.values) / Double(Self.valuesPerSecond)),
      .seconds(Double(bytes) / Double(Self.bytesPerSecond))
    )
  }

  /// Counts the values of written or replaced data.
  ///
  /// - Complexity: O(values), but never more than the limit.
  mutating func add(_ node: Node) { measure.add(node) }
}

/// The version of the data at a location: its exact hash, or a fixed word if there is no data.
enum EntityTag {
  /// The tag for no data.
  static let null = "null_etag"

  /// The tag of data with a hash.
  static func text(ofHash hash: String) -> String { hash.isEmpty ? null : hash }

  /// The hash in a tag, which may be quoted and marked as weak.
  static func hash(ofText text: String) -> String {
    var text = Substring(text)
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      text = text.dropFirst().dropLast()
    }
    return text == null ? "" : String(text)
  }
}
