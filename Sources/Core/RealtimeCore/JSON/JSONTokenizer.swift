/// Tokenizes JSON text of any length that arrives in chunks, which may end at any byte.
///
/// Only one string or number at a time has to fit into memory. ``JSONParser`` parses it.
package struct JSONTokenizer {
  package enum Token: Sendable, Equatable {
    case objectStart
    /// The name of a member, whose value follows.
    case name(String)
    case objectEnd
    case arrayStart
    case arrayEnd
    /// A string, a number, true, false or null.
    case scalar(JSONValue)
  }

  /// What may come next in the innermost container.
  private enum State {
    case value
    case firstName
    case name
    case afterMember
    case firstElement
    case afterElement
    case end
  }

  package struct Place: Sendable, Hashable, CustomStringConvertible {
    /// The number of the line, counted from 1.
    package var line = 1
    /// The number of the byte within the line, counted from 1.
    package var column = 1

    package var description: String { "line \(line), byte \(column)" }
  }

  /// The place at which the last token begins, or an error was found.
  package private(set) var place = Place()

  private let source: () throws -> [UInt8]
  private let depthLimit: Int
  private var buffer: [UInt8] = []
  private var position = 0
  /// The number of bytes that precede those in the buffer.
  private var consumed = 0
  private var line = 1
  /// The offset in the text at which the line begins.
  private var lineStart = 0
  private var hasEnded = false
  private var state = State.value
  /// For each open container, whether it is an object.
  private var containers: [Bool] = []

  /// Makes a tokenizer.
  ///
  /// - Parameters:
  ///   - depthLimit: The deepest nesting that is accepted.
  ///   - source: Returns the next bytes of the text, or none at its end.
  package init(depthLimit: Int = Limits.jsonDepth, source: @escaping () throws -> [UInt8]) {
    self.source = source
    self.depthLimit = depthLimit
  }

  /// Reads the next token.
  ///
  /// - Returns: The token, or nil at the end of the text, after one complete value.
  /// - Throws: ``JSONError`` with the reason and the offset, or the error of the source.
  package mutating func next() throws -> Token? {
    if consumed + position == 0 { try skipByteOrderMark() }
    let byte = try significantByte()
    place = Place(line: line, column: consumed + position - lineStart + 1)
    switch state {
    case .end:
      if byte != nil { throw error("text after the value") }
      return nil
    case .value: return try value(byte)
    case .firstElement:
      if byte == UInt8(ascii: "]") { return closeContainer(.arrayEnd) }
      return try value(byte)
    case .firstName:
      if byte == UInt8(ascii: "}") { return closeContainer(.objectEnd) }
      return try name(byte)
    case .name: return try name(byte)
    case .afterMember, .afterElement: return try separator(byte)
    }
  }

  // MARK: Structure

  private mutating func separator(_ byte: UInt8?) throws -> Token? {
    let isObject = state == .afterMember
    switch byte {
    case UInt8(ascii: ","):
      position += 1
      state = isObject ? .name : .value
      return try next()
    case UInt8(ascii: "}") where isObject: return closeContainer(.objectEnd)
    case UInt8(ascii: "]") where !isObject: return closeContainer(.arrayEnd)
    default:
      throw error(isObject ? "expected ',' or '}' in an object" : "expected ',' or ']' in an array")
    }
  }

  private mutating func closeContainer(_ token: Token) -> Token {
    position += 1
    containers.removeLast()
    completeValue()
    return token
  }

  private mutating func completeValue() {
    switch containers.last {
    case true: state = .afterMember
    case false: state = .afterElement
    case nil: state = .end
    }
  }

  private mutating func openContainer(isObject: Bool) -> Token {
    position += 1
    containers.append(isObject)
    state = isObject ? .firstName : .firstElement
    return isObject ? .objectStart : .arrayStart
  }

  private mutating func name(_ byte: UInt8?) throws -> Token {
    guard byte == UInt8(ascii: "\"") else { throw error("expected a member name in quotes") }
    let text = try scalar(length: try stringLength())
    guard try significantByte() == UInt8(ascii: ":") else {
      throw error("expected ':' after a member name")
    }
    position += 1
    state = .value
    return .name(text.string ?? "")
  }

  private mutating func value(_ byte: UInt8?) throws -> Token {
    guard containers.count <= depthLimit else {
      throw error("nested deeper than \(depthLimit) levels")
    }
    switch byte {
    case nil: throw error("the text ends where a value should be")
    case UInt8(ascii: "{"): return openContainer(isObject: true)
    case UInt8(ascii: "["): return openContainer(isObject: false)
    case UInt8(ascii: "\""):
      let text = try scalar(length: try stringLength())
      completeValue()
      return .scalar(text)
    default:
      // The length is at least one, so that the parser reports a byte that cannot start a value.
      let value = try scalar(length: max(1, try wordLength()))
      completeValue()
      return .scalar(value)
    }
  }

  // MARK: Scalars

  /// The length of the string that starts here, with its quotes; up to the end if it is not closed.
  private mutating func stringLength() throws -> Int {
    var length = 1
    while let byte = try byte(at: length) {
      let plain = plainBytes(at: length)
      length += max(1, plain)
      if plain > 0 { continue }
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\"), try self.byte(at: length) != nil { length += 1 }
    }
    return length
  }

  /// The number of bytes at a distance, within the buffer, that end or escape nothing.
  private func plainBytes(at distance: Int) -> Int {
    buffer.withUnsafeBufferPointer {
      JSONScanner($0, depthLimit: 0).plainBytes(at: position + distance)
    }
  }

  /// The length of the number or literal that starts here.
  private mutating func wordLength() throws -> Int {
    var length = 0
    while let byte = try byte(at: length) {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "E"):
        length += 1
      default: return length
      }
    }
    return length
  }

  private mutating func scalar(length: Int) throws -> JSONValue {
    do throws(JSONError) {
      let value = try JSONParser.parse(buffer[position..<(position + length)])
      position += length
      return value
    } catch {
      position += error.offset
      throw self.error(error.reason)
    }
  }

  // MARK: Bytes

  /// The next byte other than white space, or nil at the end.
  private mutating func significantByte() throws -> UInt8? {
    while let byte = try byte(at: 0) {
      guard byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D else { return byte }
      position += 1
      if byte == 0x0A {
        line += 1
        lineStart = consumed + position
      }
    }
    return nil
  }

  /// Skips the mark with which some programs begin a text.
  private mutating func skipByteOrderMark() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    for (index, byte) in mark.enumerated() where try self.byte(at: index) != byte { return }
    position = mark.count
    lineStart = position
  }

  /// The byte at a distance from the current position, or nil after the end.
  private mutating func byte(at distance: Int) throws -> UInt8? {
    while position + distance >= buffer.count {
      guard !hasEnded else { return nil }
      let chunk = try source()
      hasEnded = chunk.isEmpty
      buffer.removeFirst(position)
      consumed += position
      position = 0
      buffer.append(contentsOf: chunk)
    }
    return buffer[position + distance]
  }

  private mutating func error(_ reason: String) -> JSONError {
    place = Place(line: line, column: consumed + position - lineStart + 1)
    return JSONError(reason: reason, offset: consumed + position)
  }
}
