import NIOCore
import RealtimeCore

/// The messages of the blog's clients, encoded for the wire.
enum BlogWire {
  /// The length of a write of a starred post in bytes, without its frame; a write without a star is
  /// a little shorter, since the rules forbid changing the text of only one copy.
  static let writeBytes = 300

  /// A message as a masked frame.
  static func frame(_ message: ClientMessage) -> ByteBuffer {
    frame(message.encoded())
  }

  /// A text as a masked frame; exceeding the size of one frame is a programmer error.
  private static func frame(_ text: [UInt8]) -> ByteBuffer {
    precondition(text.count <= 0xFFFF)
    var frame = ByteBuffer()
    frame.writeInteger(UInt8(0x81))
    if text.count < 126 {
      frame.writeInteger(0x80 | UInt8(text.count))
    } else {
      frame.writeInteger(UInt8(0x80 | 126))
      frame.writeInteger(UInt16(text.count))
    }
    let mask: [UInt8] = [0x5A, 0xC3, 0x17, 0x99]
    frame.writeBytes(mask)
    frame.writeBytes(text.enumerated().map { index, byte in byte ^ mask[index & 3] })
    return frame
  }

  static var upgrade: ByteBuffer { upgrade() }

  /// The request that upgrades a connection to a WebSocket of one of several databases.
  static func upgrade(to database: String? = nil) -> ByteBuffer {
    ByteBuffer(
      string: """
        GET /.ws?v=5\(database.map { "&ns=\($0)" } ?? "") HTTP/1.1\r
        Host: 127.0.0.1\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        \r\n
        """
    )
  }

  /// Signs in as a user with an unsigned token.
  static func signIn(as uid: String) -> ByteBuffer {
    let header = Base64.encode(Array("{\"alg\":\"none\",\"typ\":\"JWT\"}".utf8))
    let claims = Base64.encode(Array("{\"sub\":\"\(uid)\",\"user_id\":\"\(uid)\"}".utf8))
    let token = "\(header).\(claims).".filter { $0 != "=" }
    return frame(.request(id: 1, .authenticate(.init(credential: token))))
  }

  static var signInAsOwner: ByteBuffer {
    frame(.request(id: 1, .authenticate(.init(credential: "owner", isAdministrative: true))))
  }

  static func path(_ number: Int) -> Path { Path(["posts", SamplePosts.key(number)]) }

  /// Writes that star the first post and remove the star again, by its author.
  static func starring() throws -> [ByteBuffer] {
    try [true, false].map { try put(0, by: HearthServer.name(0), isStarred: $0) }
  }

  /// Writes a whole post, with or without its author's star.
  static func put(_ number: Int, by uid: String, isStarred: Bool) throws -> ByteBuffer {
    frame(try message(number, by: uid, isStarred: isStarred))
  }

  /// The text of that message, whose length is ``writeBytes``.
  static func message(_ number: Int, by uid: String, isStarred: Bool) throws -> [UInt8] {
    let post = try post(number, by: uid, isStarred: isStarred)
    let write = WriteRequest(path: path(number), operation: .set(post))
    return ClientMessage.request(id: 5, .write(write)).encoded()
  }

  /// A post whose body fills up the message.
  static func post(_ number: Int, by uid: String, isStarred: Bool) throws -> Node {
    func post(_ body: String, isStarred: Bool) throws -> Node {
      let stars = isStarred ? ",\"stars\":{\"\(uid)\":true}" : ""
      let text = """
        {"author":"Ada of \(uid)","body":"\(body)","starCount":\(isStarred ? 1 : 0)\(stars),\
        "title":"Post number \(number)","uid":"\(uid)"}
        """
      return try Node(json: JSONParser.parse(text))
    }
    let write = WriteRequest(path: path(number), operation: .set(try post("", isStarred: true)))
    let missing = writeBytes - ClientMessage.request(id: 5, .write(write)).encoded().count
    let lines = String(repeating: "a line of text, ", count: writeBytes / 16)
    return try post(String(lines.prefix(missing)), isStarred: isStarred)
  }

  static func listen(to number: Int) -> ByteBuffer {
    frame(.request(id: 2, .listen(ListenRequest(path: path(number)))))
  }

  /// Gets the post with the most stars, which makes the server maintain the index.
  static var query: ByteBuffer { frame(BlogTree.get(1)) }
}

/// Requests to the JSON gateway of etcd, encoded for the wire.
enum EtcdWire {
  /// Stores a value under a key; as long as a write of the blog, before it is encoded for JSON.
  static func put(_ number: Int) -> ByteBuffer {
    let value = [UInt8](repeating: UInt8(ascii: "a"), count: BlogWire.writeBytes)
    return post(
      "kv/put",
      "{\"key\":\"\(key(number))\",\"value\":\"\(Base64.encode(value))\"}"
    )
  }

  static func watch(_ number: Int) -> ByteBuffer {
    post("watch", "{\"create_request\":{\"key\":\"\(key(number))\"}}")
  }

  private static func key(_ number: Int) -> String {
    Base64.encode(Array("posts/\(SamplePosts.key(number))".utf8))
  }

  private static func post(_ method: String, _ body: String) -> ByteBuffer {
    ByteBuffer(
      string: """
        POST /v3/\(method) HTTP/1.1\r
        Host: 127.0.0.1\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """
    )
  }
}

/// Requests to Redis, encoded for the wire.
enum RedisWire {
  /// Stores a value under a key; as long as a write of the blog.
  static func set(_ number: Int) -> ByteBuffer {
    padded { ["SET", "posts/\(SamplePosts.key(number))", $0] }
  }

  /// Stores a value and sends it to all subscribers, in one transaction; each of the two is as long
  /// as a write of the blog.
  ///
  /// Like its answer, the messages leave once the disk has the value.
  static func setAndPublish(_ number: Int) -> ByteBuffer {
    var transaction = command(["MULTI"])
    transaction.writeImmutableBuffer(set(number))
    transaction.writeImmutableBuffer(
      padded { ["PUBLISH", "posts/\(SamplePosts.key(number))", $0] }
    )
    transaction.writeImmutableBuffer(command(["EXEC"]))
    return transaction
  }

  static func subscribe(to number: Int) -> ByteBuffer {
    command(["SUBSCRIBE", "posts/\(SamplePosts.key(number))"])
  }

  private static func padded(_ words: (String) -> [String]) -> ByteBuffer {
    // The length of the value has three digits, even with the padding.
    let shortest = String(repeating: "a", count: 100)
    let missing = BlogWire.writeBytes - command(words(shortest)).readableBytes
    return command(words(shortest + String(repeating: "a", count: missing)))
  }

  private static func command(_ words: [String]) -> ByteBuffer {
    let text = words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    return ByteBuffer(string: "*\(words.count)\r\n\(text)")
  }
}
