extension ClientMessage {
  /// Decodes a message from JSON.
  ///
  /// - Parameters:
  ///   - bytes: The UTF-8 text of one message.
  ///   - depthLimit: The deepest nesting that is accepted, counted from the start of the data in a
  ///     write, and from the start of the message otherwise.
  /// - Throws: ``MessageError``, with the number of the request if it could be read.
  /// - Complexity: O(bytes)
  package init(
    decoding bytes: borrowing [UInt8],
    depthLimit: Int = Limits.jsonDepth
  ) throws(MessageError) {
    if let write = Self.usualWrite(bytes, depthLimit: depthLimit) {
      self = write
      return
    }
    self = try MessageEnvelope.read(
      bytes,
      from: .client,
      depthLimit: depthLimit
    ) { (envelope) throws(MessageError) in
      switch envelope.kind {
      case .control:
        let kind = envelope["t"]?.string ?? ""
        return kind == "p" ? .ping : .control(kind)
      case .data: return try Self.request(envelope)
      }
    }
  }

  /// Decodes a write to one location whose members are in the order in which clients send them.
  ///
  /// It is a fast path around the parts that accept members in any order. Returns nil for
  /// everything else, including invalid messages.
  private static func usualWrite(_ bytes: [UInt8], depthLimit: Int) -> ClientMessage? {
    bytes.withUnsafeBufferPointer { source in
      var scanner = JSONScanner(source, depthLimit: depthLimit)
      guard scanner.skips("{\"t\":\"d\",\"d\":{\"r\":"), let id = scanner.digits(),
        scanner.skips(",\"a\":\"p\",\"b\":{\"p\":"), let text = scanner.plainString(),
        case let path = Path(validUTF8: text), !path.isPriority, scanner.skips(",\"d\":"),
        case .success(let node)? = try? NodeParser.parse(&scanner)
      else { return nil }
      if scanner.skips("}}}") {
        guard scanner.position == scanner.end else { return nil }
        return .request(id: id, .write(WriteRequest(path: path, operation: .set(node))))
      }
      var (hash, key) = (String?.none, WriteKey?.none)
      if scanner.skips(",\"h\":") {
        guard let text = scanner.unescapedString() else { return nil }
        hash = String(decoding: text, as: UTF8.self)
      }
      if scanner.skips(",\"i\":") {
        guard let text = scanner.unescapedString() else { return nil }
        key = WriteKey(wire: String(decoding: text, as: UTF8.self))
        if key == nil { return nil }
      }
      guard scanner.skips("}}}"), scanner.position == scanner.end else { return nil }
      return .request(
        id: id,
        .write(WriteRequest(path: path, operation: .set(node), hash: hash, key: key))
      )
    }
  }

  private static func request(_ envelope: MessageEnvelope) throws(MessageError) -> ClientMessage {
    let body = envelope.body
    guard let id = envelope.requestID else {
      throw MessageError("a request needs a whole number \"r\"")
    }
    let data = try body.data?.node(at: body.path ?? .root, requestID: id)
    guard let action = envelope.action else {
      throw MessageError("a request needs an action \"a\"", requestID: id)
    }
    do throws(NodeError) {
      return .request(id: id, try ClientRequest(action: action, body: body, data: data))
    } catch {
      throw MessageError(error.description, requestID: id)
    }
  }

  /// Encodes the message as JSON.
  ///
  /// - Complexity: O(size)
  package func encoded() -> [UInt8] {
    var writer = JSONWriter()
    switch self {
    case .ping: writer.raw("{\"t\":\"c\",\"d\":{\"t\":\"p\",\"d\":{}}}")
    case .control(let kind):
      writer.raw("{\"t\":\"c\",\"d\":{\"t\":")
      writer.write(kind)
      writer.raw(",\"d\":{}}}")
    case .request(let id, let request):
      writer.raw("{\"t\":\"d\",\"d\":{\"r\":")
      writer.write(id)
      writer.raw(",\"a\":")
      writer.write(request.action)
      writer.raw(",\"b\":")
      request.write(to: &writer)
      writer.raw("}}")
    }
    return writer.bytes
  }
}

extension ClientRequest {
  /// Makes a request from its action, its body and the decoded data.
  fileprivate init(action: String, body: MessageBody, data: Node?) throws(NodeError) {
    let path = body.path
    switch action {
    case "p", "m":
      self = .write(
        WriteRequest(
          path: try Self.known(path),
          operation: try Self.operation(of: body, data: data, isMerge: action == "m"),
          hash: try body.string("h"),
          key: try body.writeKey
        )
      )
    case "s": self = .stats(body["c"] ?? .null)
    case "auth", "gauth":
      self = .authenticate(
        Authentication(
          credential: try body.string("cred") ?? "",
          isAdministrative: action == "gauth",
          override: body["authvar"],
          actsAsNobody: try body.bool("noauth") ?? false
        )
      )
    case "unauth": self = .unauthenticate
    case "appcheck": self = .appCheck(try body.string("token") ?? "")
    case "unappeck", "unappcheck": self = .appCheck(nil)
    case "q": self = .listen(try ListenRequest(path: Self.known(path), body: body))
    case "n":
      self = .unlisten(
        path: try Self.known(path),
        query: try Query(json: body["q"] ?? .null),
        tag: try body.integer("t")
      )
    case "g": self = .get(path: try Self.known(path), query: try Query(json: body["q"] ?? .null))
    case "o", "om":
      self = .onDisconnect(
        path: try Self.known(path),
        try Self.operation(of: body, data: data, isMerge: action == "om")
      )
    case "oc": self = .cancelOnDisconnect(path: try Self.known(path))
    default: self = .unknown(action: action)
    }
  }

  private static func known(_ path: Path?) throws(NodeError) -> Path {
    guard let path else { throw NodeError(description: "the path \"p\" must be a string") }
    return path
  }

  private static func operation(
    of body: MessageBody,
    data: Node?,
    isMerge: Bool
  ) throws(NodeError) -> WriteOperation {
    if !isMerge, let data { return .set(data) }
    guard isMerge, let changes = body["d"] else {
      throw NodeError(description: "the data \"d\" is missing")
    }
    return .merge(try Change.update(json: changes))
  }

  fileprivate var action: String {
    switch self {
    case .stats: "s"
    case .authenticate(let authentication): authentication.isAdministrative ? "gauth" : "auth"
    case .unauthenticate: "unauth"
    case .appCheck(let token): token == nil ? "unappeck" : "appcheck"
    case .listen: "q"
    case .unlisten: "n"
    case .get: "g"
    case .write(let write): write.operation.isMerge ? "m" : "p"
    case .onDisconnect(_, let operation): operation.isMerge ? "om" : "o"
    case .cancelOnDisconnect: "oc"
    case .unknown(let action): action
    }
  }

  fileprivate func write(to writer: inout JSONWriter) {
    switch self {
    case .stats(let counters): writer.write(.object(("c", counters)))
    case .authenticate(let authentication):
      writer.write(
        .object(
          ("cred", .string(authentication.credential)),
          ("authvar", authentication.override),
          ("noauth", authentication.actsAsNobody ? .bool(true) : nil)
        )
      )
    case .unauthenticate, .appCheck(nil), .unknown: writer.raw("{}")
    case .appCheck(let token?): writer.write(.object(("token", .string(token))))
    case .listen(let listen): listen.write(to: &writer)
    case .unlisten(let path, let query, let tag):
      writer.raw("{\"p\":")
      writer.write(path.description)
      writer.writeQuery(query, tag: tag)
      writer.raw("}")
    case .get(let path, let query):
      writer.raw("{\"p\":")
      writer.write(path.description)
      writer.raw(",\"q\":")
      writer.write(query.json)
      writer.raw("}")
    case .write(let write):
      writer.raw("{\"p\":")
      writer.write(write.path.description)
      writer.writeOperation(write.operation)
      if let hash = write.hash {
        writer.raw(",\"h\":")
        writer.write(hash)
      }
      if let key = write.key {
        writer.raw(",\"i\":")
        writer.write(key.wireText)
      }
      writer.raw("}")
    case .onDisconnect(let path, let operation):
      writer.raw("{\"p\":")
      writer.write(path.description)
      writer.writeOperation(operation)
      writer.raw("}")
    case .cancelOnDisconnect(let path):
      writer.write(.object(("p", .string(path.description)), ("d", .null)))
    }
  }
}

extension ListenRequest {
  fileprivate init(path: Path, body: MessageBody) throws(NodeError) {
    self.init(
      path: path,
      query: try Query(json: body["q"] ?? .null),
      tag: try body.integer("t"),
      hash: try body.string("h") ?? ""
    )
    guard let compound = body["ch"] else { return }
    guard let hashes = compound["hs"]?.elements?.map(\.string),
      let posts = compound["ps"]?.elements?.map(\.string),
      hashes.count == posts.count + 1, !hashes.contains(nil), !posts.contains(nil)
    else {
      throw NodeError(description: "\"ch\" needs one more hash in \"hs\" than paths in \"ps\"")
    }
    compoundHash = CompoundHash(
      posts: posts.compactMap(\.self).map { Path(wire: $0) },
      hashes: hashes.compactMap(\.self)
    )
  }

  fileprivate func write(to writer: inout JSONWriter) {
    writer.raw("{\"p\":")
    writer.write(path.description)
    writer.writeQuery(query, tag: tag)
    writer.raw(",\"h\":")
    writer.write(hash)
    if let compoundHash {
      writer.raw(",\"ch\":")
      writer.write(
        .object(
          ("hs", .array(compoundHash.hashes.map { .string($0) })),
          ("ps", .array(compoundHash.posts.map { .string($0.wireText) }))
        )
      )
    }
    writer.raw("}")
  }
}

extension Change {
  /// Decodes the object of an update, as ``changes(json:)`` does.
  ///
  /// - Returns: The changes, in the order of the members.
  /// - Throws: ``NodeError`` also if a name stands for the location of the update itself, all of
  ///   which it would replace.
  package static func update(json: JSONValue) throws(NodeError) -> [Change] {
    let changes = try changes(json: json)
    if changes.contains(where: \.path.isRoot) {
      throw NodeError(description: "a key of an update cannot be empty")
    }
    return changes
  }

  /// Decodes an object whose member names are relative paths.
  ///
  /// - Returns: The changes, in the order of the members.
  /// - Throws: ``NodeError`` if it is not an object, a value is not valid data, or paths overlap.
  package static func changes(json: JSONValue) throws(NodeError) -> [Change] {
    guard let members = json.members else {
      throw NodeError(description: "the data of an update must be an object")
    }
    var changes: [Change] = []
    for member in members {
      let path = Path(wire: member.name)
      let value = member.value
      changes.append(
        Change(path, to: try path.isPriority ? Node(priority: value) : Node(json: value))
      )
    }
    let sorted = changes.map(\.path).sorted()
    for (path, next) in zip(sorted, sorted.dropFirst()) where path.contains(next) {
      throw NodeError(description: "the paths \(path) and \(next) of one update overlap")
    }
    return changes
  }
}

extension WriteOperation {
  /// Whether several locations change at once.
  package var isMerge: Bool {
    if case .merge = self { true } else { false }
  }
}

extension JSONWriter {
  fileprivate mutating func writeQuery(_ query: Query, tag: Int64?) {
    if !query.isDefault {
      raw(",\"q\":")
      write(query.json)
    }
    if let tag {
      raw(",\"t\":")
      write(tag)
    }
  }

  fileprivate mutating func writeOperation(_ operation: WriteOperation) {
    raw(",\"d\":")
    switch operation {
    case .set(let node): node.write(to: &self)
    case .merge(let changes): writeChanges(changes)
    }
  }

  /// Writes an object whose member names are relative paths.
  package mutating func writeChanges(_ changes: [Change]) {
    raw("{")
    for (index, change) in changes.enumerated() {
      if index > 0 { raw(",") }
      write(change.path.wireText)
      raw(":")
      change.node.write(to: &self)
    }
    raw("}")
  }
}
