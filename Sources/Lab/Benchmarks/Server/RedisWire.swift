import NIOCore

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
