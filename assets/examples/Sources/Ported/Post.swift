import FirebaseDatabase

/// A post as it is stored.
struct Post: Codable {
  struct Author: Codable {
    var uid: String
    var name: String
  }

  var author: Author
  var title: String
  var starCount: Int?
  var stars: [String: Bool]?
  var written: Date?
}

extension Database.Encoder {
  /// Dates as the original writes them in JavaScript: in milliseconds.
  static func milliseconds() -> Database.Encoder {
    let encoder = Database.Encoder()
    encoder.dateEncodingStrategy = .millisecondsSince1970
    return encoder
  }
}

extension Database.Decoder {
  static func milliseconds() -> Database.Decoder {
    let decoder = Database.Decoder()
    decoder.dateDecodingStrategy = .millisecondsSince1970
    return decoder
  }
}
