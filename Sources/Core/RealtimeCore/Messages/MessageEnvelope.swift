/// The outer object of every message, with what messages have in common.
struct MessageEnvelope {
  enum Kind {
    case control
    case data
  }

  /// Who sends a message.
  enum Sender {
    case client
    case server

    /// Whether an action replaces the data of one location by the data that it carries.
    func carriesData(_ action: String) -> Bool {
      switch self {
      case .client: action == "p" || action == "o"
      case .server: action == "d"
      }
    }
  }

  private(set) var kind = Kind.control
  /// The number "r" of a request, or of the one that is answered.
  private(set) var requestID: Int64?
  /// The action "a".
  private(set) var action: String?
  /// The object "b"; empty when there is none, or another value.
  private(set) var body = MessageBody()
  /// All other members of the inner object.
  private(set) var members: [JSONMember] = []

  /// A member of the inner object that is none of those above; the later counts of two.
  subscript(name: String) -> JSONValue? { members.last { $0.name == name }?.value }

  /// Reads a message and hands it on.
  ///
  /// - Parameters:
  ///   - bytes: The UTF-8 text of one message.
  ///   - sender: Who sends it.
  ///   - depthLimit: The deepest nesting that is followed: of data for a tree counted from where they
  ///     begin, of all else from the message.
  ///   - decode: Makes the message; data for a tree are read as such, or left to it.
  /// - Returns: The message.
  /// - Throws: ``MessageError`` when the text is no message.
  /// - Complexity: O(bytes)
  static func read<Message>(
    _ bytes: [UInt8],
    from sender: Sender,
    depthLimit: Int = Limits.jsonDepth,
    _ decode: (MessageEnvelope) throws(MessageError) -> Message
  ) throws(MessageError) -> Message {
    try bytes.withUnsafeBufferPointer { (source) throws(MessageError) in
      try decode(MessageEnvelope(source, from: sender, depthLimit))
    }
  }

  private init(
    _ source: UnsafeBufferPointer<UInt8>,
    from sender: Sender,
    _ depthLimit: Int
  ) throws(MessageError) {
    var type: String?
    var hasInner = false
    do throws(JSONError) {
      var reader = JSONReader(source, depthLimit: depthLimit)
      if reader.nextIsObject {
        try reader.startObject()
        while let name = try reader.nextName() {
          switch name {
          case .letter("t"): type = try reader.string()
          case .letter("d"):
            hasInner = true
            try readInner(&reader, from: sender)
          case .letter, .text: _ = try reader.value()
          }
        }
      } else {
        _ = try reader.value()
      }
      try reader.finish()
      try settleData(from: sender)
    } catch {
      throw MessageError(error.description)
    }
    guard hasInner else { throw MessageError("a message needs a member \"d\"") }
    switch type {
    case "c": kind = .control
    case "d": kind = .data
    case nil, _?: throw MessageError("a message needs a member \"t\" of \"c\" or \"d\"")
    }
  }

  private mutating func readInner(
    _ reader: inout JSONReader,
    from sender: Sender
  ) throws(JSONError) {
    (requestID, action, body, members) = (nil, nil, MessageBody(), [])
    guard reader.nextIsObject else {
      _ = try reader.value()
      return
    }
    try reader.startObject()
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
    guard reader.nextIsObject else {
      _ = try reader.value()
      return
    }
    let carriesData = carriesData(from: sender)
    try reader.startObject()
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

  /// Makes the data of an action that puts none into a tree a member like others.
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
