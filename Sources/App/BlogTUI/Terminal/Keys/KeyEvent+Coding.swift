extension KeyEvent: Codable {
  private enum CodingKeys: String, CodingKey {
    case character, control, alt, function, paste, mouse, resize
  }

  /// Reads a key: its name as a string, or what has no name as an object.
  ///
  /// - Throws: `DecodingError` when there is no such key.
  package init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      guard let key = KeyEvent(description: name) else {
        throw Self.corrupted(decoder, "\"\(name)\" is no key")
      }
      self = key
      return
    }
    let members = try decoder.container(keyedBy: CodingKeys.self)
    switch members.allKeys.first {
    case .character: self = .character(try Self.character(members, .character, decoder))
    case .control: self = .control(try Self.character(members, .control, decoder))
    case .alt: self = .alt(try members.decode(KeyEvent.self, forKey: .alt))
    case .function: self = .function(try members.decode(Int.self, forKey: .function))
    case .paste: self = .paste(try members.decode(String.self, forKey: .paste))
    case .mouse: self = .mouse(try members.decode(MouseEvent.self, forKey: .mouse))
    case .resize: self = .resize(try members.decode(Size.self, forKey: .resize))
    case nil: throw Self.corrupted(decoder, "there is no such kind of key")
    }
  }

  private static func character(
    _ members: KeyedDecodingContainer<CodingKeys>,
    _ key: CodingKeys,
    _ decoder: any Decoder
  ) throws -> Character {
    let text = try members.decode(String.self, forKey: key)
    guard let character = text.first, text.count == 1 else {
      throw corrupted(decoder, "\"\(text)\" is not one character")
    }
    return character
  }

  private static func corrupted(_ decoder: any Decoder, _ reason: String) -> DecodingError {
    .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: reason))
  }

  /// Writes the key as ``init(from:)`` reads it.
  ///
  /// - Throws: What the encoder throws.
  package func encode(to encoder: any Encoder) throws {
    let name = description
    if KeyEvent(description: name) == self {
      var container = encoder.singleValueContainer()
      return try container.encode(name)
    }
    var members = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .character(let character): try members.encode(String(character), forKey: .character)
    case .control(let character): try members.encode(String(character), forKey: .control)
    case .alt(let key): try members.encode(key, forKey: .alt)
    case .function(let number): try members.encode(number, forKey: .function)
    case .paste(let text): try members.encode(text, forKey: .paste)
    case .mouse(let event): try members.encode(event, forKey: .mouse)
    case .resize(let size): try members.encode(size, forKey: .resize)
    case .up, .down, .left, .right, .controlLeft, .controlRight, .home, .end, .pageUp, .pageDown,
      .insert, .delete, .backspace, .tab, .backTab, .enter, .escape:
      // Each of them has a name.
      break
    }
  }
}
