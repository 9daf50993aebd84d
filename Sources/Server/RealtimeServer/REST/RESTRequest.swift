internal import RealtimeCore
internal import RealtimeTransport

/// A REST request that has been understood.
struct RESTRequest: Sendable {
  /// What is to be written.
  enum Write: Sendable {
    case set(Path, Node)
    case merge(Path, [Change])
    case remove(Path)
    /// Add a child, whose key is yet to be made.
    case append(Path, Node)
  }

  /// The sender of the request.
  let credential: RESTCredential
  let method: RESTMethod
  let path: Path
  let options: RESTOptions
  let query: Query?
  /// The hashes one of which the data must have.
  let requiredHashes: [String]
  /// The hashes that the data must not have; a star stands for any data.
  let knownTags: [String]
  /// Whether the answer is to tell the version of the data.
  let wantsTag: Bool
  /// Whether the answer is to follow the data.
  let wantsStream: Bool
  /// The connection that the request came by.
  let connection: HTTPRequest.Connection?
  private let body: [UInt8]
  /// The deepest nesting of the body that is followed.
  private let depthLimit: Int
  /// The length of the body.
  var bodyLength: Int { body.count }

  /// Most versions in one condition.
  private static let tagLimit = 16

  /// Reads a request; nil when its path is none of REST.
  init?(
    _ request: HTTPRequest,
    from sender: Result<RESTCredential, RESTError>? = nil,
    depthLimit: Int = Limits.jsonDepth
  ) throws(RESTError) {
    guard let path = try RESTPath.location(in: request.path) else { return nil }
    self.path = path
    credential = try RESTCredential.sender(of: request, known: sender)
    method = try Self.method(of: request)
    options = try RESTOptions(request, method: method)
    query =
      method.isRead
      ? try QueryParameters.query(of: request, isShallow: options.isShallow) : nil
    let required = request.headerList("if-match")
    let known = request.headerList("if-none-match")
    guard required.count <= Self.tagLimit, known.count <= Self.tagLimit else {
      throw RESTError(400, reason: "a condition names more than \(Self.tagLimit) versions")
    }
    // A star asks for any version, which is no condition worth a comparison.
    requiredHashes = required.contains("*") ? [] : required.map { EntityTag.hash(ofText: $0) }
    knownTags = method.isRead ? known : []
    let flag = request.header("X-Firebase-ETag")?.lowercased() == "true"
    wantsTag = flag || !knownTags.isEmpty
    wantsStream =
      method == .get
      && request.headerList("Accept").contains { $0.hasPrefix("text/event-stream") }
    body = request.body
    connection = request.connection
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

  /// The method, which a header line or a parameter of a POST may stand for.
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

  /// What the body says is to be written, or nil for a request that writes nothing.
  ///
  /// - Throws: ``RESTError`` when the body is not what the method wants.
  /// - Complexity: O(body)
  func write() throws(RESTError) -> Write? {
    switch method {
    case .get, .head, .options: return nil
    case .delete: return .remove(path)
    case .put:
      let json = try json()
      do throws(NodeError) {
        guard path.isPriority else { return .set(path, try Node(json: json)) }
        return .set(path, try Node.priorityValue(json).map { .leaf($0) } ?? .empty)
      } catch {
        throw RESTError(400, reason: "Invalid data; \(error)")
      }
    case .post:
      let json = try json()
      do throws(NodeError) {
        return .append(path, try Node(json: json))
      } catch {
        throw RESTError(400, reason: "Invalid data; \(error)")
      }
    case .patch:
      let json = try json()
      guard json.members != nil else { throw RESTError.invalidData }
      do throws(NodeError) {
        return .merge(path, try Change.changes(json: json))
      } catch {
        throw RESTError(400, reason: "Invalid data; \(error)")
      }
    }
  }

  private func json() throws(RESTError) -> JSONValue {
    if body.allSatisfy({ $0 == 0x20 || (0x09...0x0D).contains($0) }) { throw RESTError.missingData }
    do throws(JSONError) {
      return try JSONParser.parse(body, depthLimit: depthLimit)
    } catch {
      throw RESTError.invalidData
    }
  }

  /// Whether the asker knows the data with a hash already.
  func knows(_ hash: String) -> Bool {
    knownTags.contains { $0 == "*" ? !hash.isEmpty : EntityTag.hash(ofText: $0) == hash }
  }
}

/// The location in the path of a REST request.
enum RESTPath {
  private static let suffix = ".json"

  /// The location, or nil when the path does not end as REST paths do.
  ///
  /// - Throws: ``RESTError`` when an escape is malformed, or the name is one that data cannot have.
  static func location(in path: String) throws(RESTError) -> Path? {
    guard path.hasSuffix(suffix) else { return nil }
    var keys: [ChildKey] = []
    for segment in path.utf8.dropLast(suffix.utf8.count).split(separator: UInt8(ascii: "/")) {
      guard let text = HTTPRequest.unescape(String(Substring(segment))) else {
        throw RESTError(400, reason: "Invalid path: Invalid token in path")
      }
      keys.append(ChildKey(text))
    }
    if let first = keys.first?.text, first.hasPrefix("."), keys[0] != .priority {
      throw RESTError(404, reason: "there is nothing at /\(first) on this server")
    }
    return Path(keys)
  }
}

/// How large a write may be, by the names of the REST API: each stands for a time that it may take.
enum WriteSize: String, CaseIterable {
  /// A second.
  case tiny
  /// Ten seconds.
  case small
  /// Half a minute.
  case medium
  /// A minute.
  case large
  /// Any time.
  case unlimited

  /// The time that a write may take, or nil when it may take any.
  var target: Duration? {
    switch self {
    case .tiny: .seconds(1)
    case .small: .seconds(10)
    case .medium: .seconds(30)
    case .large: .seconds(60)
    case .unlimited: nil
    }
  }

  /// Whether a write is expected to take no longer than its size allows.
  ///
  /// - Complexity: O(values), but never more than what the target holds.
  func allows(_ estimate: (_ limit: Duration) -> Duration) -> Bool {
    target.map { estimate($0) <= $0 } ?? true
  }
}

/// How long a write is expected to take: by the values that come and go, and by its length.
///
/// The rates are those of a modest machine on a busy day, with rules and an index: who asks for a
/// bound wants to keep others from waiting, and writes in smaller parts when one is refused.
struct WriteEstimate {
  /// Values that are written or removed in a second.
  private static let valuesPerSecond = 100_000
  /// Bytes of JSON that are taken in in a second.
  private static let bytesPerSecond = 8 * 1_024 * 1_024

  private let limit: Int
  private var values = 0
  private let bytes: Int

  /// Begins an estimate.
  ///
  /// - Parameters:
  ///   - limit: The time beyond which nobody wants to know it exactly.
  ///   - bytes: The length of the request.
  init(upTo limit: Duration, bytes: Int) {
    self.limit = Int(limit.components.seconds) * Self.valuesPerSecond
    self.bytes = bytes
  }

  /// The time; when it is beyond the limit, at least a little more than that.
  var duration: Duration {
    max(
      .seconds(Double(values) / Double(Self.valuesPerSecond)),
      .seconds(Double(bytes) / Double(Self.bytesPerSecond))
    )
  }

  /// Counts the values of written or replaced data.
  ///
  /// - Complexity: O(values), but never more than the limit.
  mutating func add(_ node: Node) {
    guard values <= limit else { return }
    guard let children = node.children else {
      if !node.isEmpty { values += 1 }
      return
    }
    for child in children.map {
      guard values <= limit else { return }
      add(child.value)
    }
  }
}

/// The version of the data at a location: their hash, or a word for no data.
enum EntityTag {
  /// The tag of no data.
  static let null = "null_etag"

  /// The tag of data with a hash.
  static func text(ofHash hash: String) -> String { hash.isEmpty ? null : hash }

  /// The hash that a tag stands for, with or without quotes and the mark of a weak one.
  static func hash(ofText text: String) -> String {
    var text = Substring(text)
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      text = text.dropFirst().dropLast()
    }
    return text == null ? "" : String(text)
  }
}
