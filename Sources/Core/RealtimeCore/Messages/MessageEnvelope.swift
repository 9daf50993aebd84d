/// The outer JSON object that all messages have in common.
struct MessageEnvelope {
  enum Kind {
    case control
    case data
  }

  enum Sender {
    case client
    case server

    /// Whether an action carries data that replaces the data at its path.
    func carriesData(_ action: String) -> Bool {
      switch self {
      case .client: action == "p" || action == "o"
      case .server: action == "d"
      }
    }
  }

  private(set) var kind = Kind.control
  /// The number "r" of the request, or of the request that a response answers.
  private(set) var requestID: Int64?
  /// The action "a".
  private(set) var action: String?
  /// The object "b"; empty if it is missing or not an object.
  private(set) var body = MessageBody()
  /// All other members of the inner object.
  private(set) var members: [JSONMember] = []

  /// Any other member of the inner object; if a name occurs twice, the last member counts.
  subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

  /// Decodes a message, which `decode` makes from an envelope that is valid only during the call.
  ///
  /// - Throws: ``MessageError`` if the text is not a message.
  /// - Complexity: O(bytes)
  static func read<Message>(
    _ bytes: [UInt8],
    from sender: Sender,
    depthLimit: Int = Limits.jsonDepth,
    _ decode: (MessageEnvelope) throws(MessageError) -> Message
  ) throws(MessageError) -> Message {
    try bytes.withUnsafeBufferPointer { (source) throws(MessageError) in
      try decode(MessageEnvelope(source, from: sender, depthLimit: depthLimit))
    }
  }

  private init(
    _ source: UnsafeBufferPointer<UInt8>,
    from sender: Sender,
    depthLimit: Int
  ) throws(MessageError) {
    var type: String?
    var hasInner = false
    do throws(JSONError) {
      var reader = JSONReader(source, depthLimit: depthLimit)
      if try reader.startsObject() {
        while let name = try reader.nextName() {
          switch name {
          case .letter("t"): type = try reader.string()
          case .letter("d"):
            hasInner = true
            try readInner(&reader, from: sender)
          case .letter, .text: _ = try reader.value()
          }
        }
      }
      try reader.finish()
      try settleData(from: sender)
    } catch {
      throw MessageError(error.description, requestID: Self.requestID(in: source))
    }
    guard hasInner else { throw MessageError("a message needs a member \"d\"") }
    switch type {
    case "c": kind = .control
    case "d": kind = .data
    case nil, _?:
      throw MessageError(
        "a message needs a member \"t\" of \"c\" or \"d\"",
        requestID: requestID
      )
    }
  }

  /// The number of a request that is not valid JSON, which awaits an answer all the same.
  ///
  /// - Complexity: O(bytes), however deep they are nested
  private static func requestID(in source: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard let inner = spans(of: ["\"d\""], in: source, range: source.indices)[0],
      let number = spans(of: ["\"r\""], in: source, range: inner)[0]
    else { return nil }
    return json(at: number, in: source)?.integer
  }

  /// The number and the action of a request, and where its body is; nil if the text has no number.
  ///
  /// - Complexity: O(bytes), without a look at what the request carries
  static func outline(of bytes: [UInt8]) -> (id: Int64, action: String, body: Range<Int>?)? {
    bytes.withUnsafeBufferPointer { source in
      let outer = spans(of: ["\"t\"", "\"d\""], in: source, range: source.indices)
      guard let type = outer[0], let inner = outer[1], json(at: type, in: source)?.string == "d"
      else { return nil }
      let members = spans(of: ["\"r\"", "\"a\"", "\"b\""], in: source, range: inner)
      guard let number = members[0], let id = json(at: number, in: source)?.integer else {
        return nil
      }
      return (id, members[1].flatMap { json(at: $0, in: source)?.string } ?? "", members[2])
    }
  }

  /// Where a key can be added to the body of a write; nil if there is one.
  ///
  /// - Complexity: O(bytes of the body)
  static func keyPosition(in bytes: [UInt8], body: Range<Int>) -> Int? {
    bytes.withUnsafeBufferPointer { source in
      let members = spans(of: ["\"p\"", "\"i\""], in: source, range: body)
      guard members[0] != nil, members[1] == nil else { return nil }
      return source[body].lastIndex(of: UInt8(ascii: "}"))
    }
  }

  private static func json(
    at range: Range<Int>,
    in source: UnsafeBufferPointer<UInt8>
  ) -> JSONValue? {
    try? JSONSpan(scanner: JSONScanner(source, range: range, depthLimit: 0)).json()
  }

  /// For each of the names, in quotes, the span of the last value that it has in an object that may
  /// be broken elsewhere.
  private static func spans(
    of names: [StaticString],
    in source: UnsafeBufferPointer<UInt8>,
    range: Range<Int>
  ) -> [Range<Int>?] {
    var found = [Range<Int>?](repeating: nil, count: names.count)
    var scanner = JSONScanner(source, range: range, depthLimit: 0)
    guard scanner.endsAtOnce(UInt8(ascii: "{")) else { return found }
    repeat {
      // A member is skipped like a value, because only brackets, strings and commas count.
      let start = scanner.position
      let member = (try? scanner.skipValue()) ?? start..<scanner.end
      for (index, name) in names.enumerated() {
        var inside = JSONScanner(source, range: member, depthLimit: 0)
        inside.skipWhitespace()
        guard inside.skips(name), inside.endsAtOnce(UInt8(ascii: ":")) else { continue }
        found[index] = inside.position..<member.upperBound
      }
    } while scanner.endsAtOnce(UInt8(ascii: ","))
    return found
  }

  private mutating func readInner(
    _ reader: inout JSONReader,
    from sender: Sender
  ) throws(JSONError) {
    (requestID, action, body, members) = (nil, nil, MessageBody(), [])
    guard try reader.startsObject() else { return }
    while let name = try reader.nextName() {
      switch name {
      case .letter("r"): requestID = try reader.value().integer
      case .letter("a"): action = try reader.string()
      case .letter("b"): try readBody(&reader, from: sender)
      case .letter, .text: members.append(JSONMember(name.text, try reader.value()))
      }
    }
  }

  private mutating func readBody(
    _ reader: inout JSONReader,
    from sender: Sender
  ) throws(JSONError) {
    body = MessageBody()
    guard try reader.startsObject() else { return }
    let carriesData = carriesData(from: sender)
    while let name = try reader.nextName() {
      switch name {
      case .letter("p"): body.path = try reader.path()
      case .letter("d"):
        if carriesData, body.path?.isPriority == false {
          let (node, span) = try reader.node()
          body.data = MessageData(span: span, early: node)
        } else {
          body.data = MessageData(span: try reader.skip(), early: nil)
        }
      case .letter, .text: body.members.append(JSONMember(name.text, try reader.value()))
      }
    }
  }

  /// Turns "d" into an ordinary member unless the action carries data for a path.
  private mutating func settleData(from sender: Sender) throws(JSONError) {
    if carriesData(from: sender) { return }
    guard let data = body.data else { return }
    body.members.append(JSONMember("d", try data.span.json()))
    body.data = nil
  }

  private func carriesData(from sender: Sender) -> Bool {
    action.map(sender.carriesData) ?? false
  }
}

/// The body of a request, a response or a push.
struct MessageBody {
  /// The path "p", if it is a string.
  var path: Path?
  /// The data "d", if the action replaces data at a path.
  var data: MessageData?
  /// All other members, in the order in which they appear in the text.
  var members: [JSONMember] = []

  /// The value of a member, or nil; if a name occurs twice, the last member counts.
  ///
  /// - Complexity: O(members)
  subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

  // MARK: Members of a request

  // A member of the wrong type is an error and not treated as missing: a conditional write must not
  // become unconditional, and a request to act as nobody must not be served as an administrator's.

  func string(_ name: String) throws(NodeError) -> String? {
    try member(name, kind: "a string") { $0.string }
  }

  func integer(_ name: String) throws(NodeError) -> Int64? {
    try member(name, kind: "a whole number") { $0.integer }
  }

  func bool(_ name: String) throws(NodeError) -> Bool? {
    try member(name, kind: "true or false") { $0.bool }
  }

  /// The key "i" of a write.
  var writeKey: WriteKey? {
    get throws(NodeError) {
      try member("i", kind: "a client's name, a colon and a number") {
        $0.string.flatMap { WriteKey(wire: $0) }
      }
    }
  }

  private func member<Value>(
    _ name: String,
    kind: String,
    read: (JSONValue) -> Value?
  ) throws(NodeError) -> Value? {
    guard let json = self[name] else { return nil }
    guard let value = read(json) else {
      throw NodeError(description: "the member \"\(name)\" must be \(kind)")
    }
    return value
  }
}

/// The data of a message that replaces the data at its path.
struct MessageData {
  let span: JSONSpan
  /// The decoded data, if the path and the action came first in the text; nil if not decoded yet.
  let early: Result<Node, NodeError>?

  /// Decodes the data for a path, which may be the path of a priority.
  func node(at path: Path, requestID: Int64? = nil) throws(MessageError) -> Node {
    do {
      if path.isPriority { return try Node(priority: span.json()) }
      guard let early else { return try span.node() }
      return try early.get()
    } catch {
      throw MessageError("\(error)", requestID: requestID)
    }
  }
}

/// Why a message cannot be decoded.
package struct MessageError: Error, Hashable, Sendable, CustomStringConvertible {
  package let reason: String
  /// The number of the request, if known, so that the server can respond to it.
  package let requestID: Int64?

  package init(_ reason: String, requestID: Int64? = nil) {
    self.reason = reason
    self.requestID = requestID
  }

  package var description: String { reason }
}
