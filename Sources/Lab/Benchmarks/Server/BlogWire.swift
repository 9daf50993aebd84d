import NIOCore
import RealtimeCore

/// The messages of clients of the blog, encoded for the wire.
enum BlogWire {
  /// How long a write of a starred post is, in bytes, without the frame around it; one without a star
  /// is a little shorter, since the rules let nobody change the text of one copy with it.
  static let writeBytes = 300

  /// A message as a masked frame.
  static func frame(_ message: ClientMessage) -> ByteBuffer {
    frame(message.encoded())
  }

  /// A text as a masked frame; it is a programmer error to have more than fits into one.
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

  /// The request that makes a connection a WebSocket.
  static var upgrade: ByteBuffer { upgrade() }

  /// The request that makes a connection a WebSocket of one of several databases.
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

  /// Signing in as a user, by a token that is not signed.
  static func signIn(as uid: String) -> ByteBuffer {
    let header = Base64.encode(Array("{\"alg\":\"none\",\"typ\":\"JWT\"}".utf8))
    let claims = Base64.encode(Array("{\"sub\":\"\(uid)\",\"user_id\":\"\(uid)\"}".utf8))
    let token = "\(header).\(claims).".filter { $0 != "=" }
    return frame(.request(id: 1, .authenticate(.init(credential: token))))
  }

  /// Signing in as an administrator.
  static var signInAsOwner: ByteBuffer {
    frame(.request(id: 1, .authenticate(.init(credential: "owner", isAdministrative: true))))
  }

  /// Where a post is.
  static func path(_ number: Int) -> Path { Path(["posts", SamplePosts.key(number)]) }

  /// Writing a whole post, with the star of its author or without.
  static func put(_ number: Int, by uid: String, isStarred: Bool) throws -> ByteBuffer {
    frame(try message(number, by: uid, isStarred: isStarred))
  }

  /// The text of that message, as long as ``writeBytes`` says.
  static func message(_ number: Int, by uid: String, isStarred: Bool) throws -> [UInt8] {
    let post = try post(number, by: uid, isStarred: isStarred)
    let write = WriteRequest(path: path(number), operation: .set(post))
    return ClientMessage.request(id: 5, .write(write)).encoded()
  }

  /// A post whose body fills the message up.
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

  /// Listening to a post.
  static func listen(to number: Int) -> ByteBuffer {
    frame(.request(id: 2, .listen(ListenRequest(path: path(number)))))
  }

  /// Asking for the post with the most stars, which has the server keep the index.
  static var query: ByteBuffer {
    var query = Query(index: .child(Path(["starCount"])))
    query.limit = Query.Limit(1, side: .last)
    return frame(.request(id: 3, .get(path: Path(["posts"]), query: query)))
  }
}

/// Requests to Redis, encoded as they go over the wire.
enum RedisWire {
  /// Storing a value under a key, as long as a write of the blog.
  static func set(_ number: Int) -> ByteBuffer {
    padded { ["SET", "posts/\(SamplePosts.key(number))", $0] }
  }

  /// Sending a value to all who have subscribed, as long as a write of the blog.
  static func publish(_ number: Int) -> ByteBuffer {
    padded { ["PUBLISH", "posts/\(SamplePosts.key(number))", $0] }
  }

  /// Getting what is published.
  static func subscribe(to number: Int) -> ByteBuffer {
    command(["SUBSCRIBE", "posts/\(SamplePosts.key(number))"])
  }

  private static func padded(_ words: (String) -> [String]) -> ByteBuffer {
    // The length of the value has three digits, with the padding as well.
    let shortest = String(repeating: "a", count: 100)
    let missing = BlogWire.writeBytes - command(words(shortest)).readableBytes
    return command(words(shortest + String(repeating: "a", count: missing)))
  }

  private static func command(_ words: [String]) -> ByteBuffer {
    let text = words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined()
    return ByteBuffer(string: "*\(words.count)\r\n\(text)")
  }
}
