public import Foundation
package import RealtimeCore

/// A Swift or Foundation value that represents data; a cast to this protocol never bridges.
private protocol DataConvertible {
  func json() throws(DatabaseError) -> JSONValue
}

/// A container of such values.
private protocol DataContainer {
  /// The data as JSON, if the container is so many levels below the value that is converted.
  func json(at level: Int) throws(DatabaseError) -> JSONValue
}

/// Converts the program's values to tree data and back.
package enum NodeConversion {
  /// Converts null, a boolean, a number, a string, or an array or dictionary of them to data.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what cannot be stored.
  package static func node(_ value: Any?) throws(DatabaseError) -> Node {
    try node(json: try json(value))
  }

  /// Converts a value and a priority to data; a priority within the value takes precedence.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what cannot be stored.
  package static func node(_ value: Any?, priority: Any?) throws(DatabaseError) -> Node {
    let priority = try self.priority(priority)
    let json = try json(value)
    let node = try Self.node(json: json)
    return json[".priority"] == nil ? node.withPriority(priority.leafValue) : node
  }

  /// Converts a priority, which is nil, `NSNull`, a number, a string or a server value.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` for any other value.
  package static func priority(_ priority: Any?) throws(DatabaseError) -> Node {
    try JSONMember(".priority", try json(priority)).check()
    return try node(json: .object((".value", try json(priority))))
  }

  /// Converts a value to JSON.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what cannot be stored.
  package static func json(_ value: Any?) throws(DatabaseError) -> JSONValue {
    try json(value, at: 0)
  }

  /// More levels than data can have, with optionals and server values; a value from outside the
  /// program must not exhaust the stack.
  private static let levels = 4 * Limits.depth

  fileprivate static func json(_ value: Any?, at level: Int) throws(DatabaseError) -> JSONValue {
    guard let value else { return .null }
    guard level <= levels else {
      throw .invalid("data cannot be nested deeper than \(Limits.depth) keys")
    }
    if let convertible = value as? any DataConvertible { return try convertible.json() }
    if let container = value as? any DataContainer { return try container.json(at: level + 1) }
    if let dictionary = value as? [String: Any] { return try dictionary.json(at: level + 1) }
    if let array = value as? [Any] { return try array.json(at: level + 1) }
    throw .invalid(
      "a value of type \(type(of: value)) cannot be stored;"
        + " only null, booleans, numbers, strings, arrays and dictionaries can"
    )
  }

  /// Makes a node from JSON, if the JSON can be stored.
  static func node(json: JSONValue) throws(DatabaseError) -> Node {
    try json.check()
    do throws(NodeError) {
      return try Node(json: json)
    } catch {
      throw .invalid(error.description)
    }
  }

  /// Converts data to `NSNumber`, `String`, `[Any]` and `[String: Any]`, and no data to `NSNull`.
  ///
  /// Numbers are boxed, because only a box can be cast to every numeric type. Containers are not,
  /// because casts reach the elements of Swift containers at every depth.
  package static func value(_ node: Node, form: Node.JSONForm = .value) -> Any {
    value(node.json(form))
  }

  /// Converts JSON to values of the same types.
  package static func value(_ json: JSONValue) -> Any {
    switch json {
    case .null: NSNull()
    case .bool(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value
    case .array(let elements): elements.map { value($0) }
    case .object(let members):
      Dictionary(
        members.map { ($0.name, value($0.value)) },
        uniquingKeysWith: { _, later in later }
      )
    }
  }
}

extension Validation {
  /// What is wrong with different keys that are equal as Swift strings, in a dictionary.
  static func problem(withEqualKeys keys: [String]) -> String {
    // They look alike, too.
    let texts = keys.map { key in
      "\"" + key.unicodeScalars.map { $0.escaped(asASCII: true) }.joined() + "\""
    }
    return "the keys \(texts.joined(separator: " and ")) are equal as Swift strings,"
      + " so that a dictionary can hold only one of them"
  }
}

extension JSONValue {
  /// Checks that all of the JSON can be stored; a tree silently drops what it cannot hold.
  ///
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what cannot be stored.
  func check() throws(DatabaseError) {
    if let members {
      for member in members { try member.check() }
      let hasServerValue = self[".sv"] != nil
      if hasServerValue || self[".value"] != nil {
        let companions = members.filter { hasServerValue || $0.name != ".priority" }
        if companions.count > 1 {
          let name = hasServerValue ? ".sv" : ".value"
          let others = companions.map(\.name).filter { $0 != name }.joined(separator: ", ")
          throw .invalid("\(name) cannot be combined with \(others)")
        }
      }
    } else if let elements {
      for element in elements { try element.check() }
    }
  }

  /// Different keys of one location, here or below, that are equal as Swift strings; nil if there
  /// are none.
  var equalKeys: [String]? {
    switch self {
    case .object(let members):
      members.equalNames ?? members.lazy.compactMap(\.value.equalKeys).first
    case .array(let elements): elements.lazy.compactMap(\.equalKeys).first
    case .null, .bool, .integer, .double, .string: nil
    }
  }

  /// Whether this is a leaf: not a container, except for a server value.
  fileprivate var isLeaf: Bool { elements == nil && (members == nil || self[".sv"] != nil) }
}

extension [JSONMember] {
  /// Different names that are equal as Swift strings, and so one key of a dictionary; nil if there
  /// are none.
  var equalNames: [String]? {
    // Most names are ASCII, and two of those are equal only if they are the same.
    guard contains(where: { !$0.name.utf8.allSatisfy { $0 < 0x80 } }) else { return nil }
    var names: Set<String> = []
    let repeated = first { !names.insert($0.name).inserted }
    return repeated.map { repeated in map(\.name).filter { $0 == repeated.name } }
  }
}

extension JSONMember {
  fileprivate func check() throws(DatabaseError) {
    switch name {
    case ".sv": return
    case ".value":
      guard value.isLeaf else {
        throw .invalid(".value must be null, a boolean, a number or a string")
      }
    case ".priority":
      var isBoolean = false
      if case .bool = value { isBoolean = true }
      guard value.isLeaf, !isBoolean else {
        throw .invalid("a priority must be null, a number or a string")
      }
    default:
      if let problem = Validation.problem(withKey: name) {
        throw .invalid(problem)
      }
    }
    try value.check()
  }
}

extension Bool: DataConvertible {
  fileprivate func json() -> JSONValue { .bool(self) }
}

extension String: DataConvertible {
  fileprivate func json() -> JSONValue { .string(self) }
}

extension Substring: DataConvertible {
  fileprivate func json() -> JSONValue { .string(String(self)) }
}

extension DataConvertible where Self: BinaryInteger {
  fileprivate func json() -> JSONValue {
    Int64(exactly: self).map { .integer($0) } ?? .double(Double(self))
  }
}

extension Int: DataConvertible {}
extension Int8: DataConvertible {}
extension Int16: DataConvertible {}
extension Int32: DataConvertible {}
extension Int64: DataConvertible {}
extension UInt: DataConvertible {}
extension UInt8: DataConvertible {}
extension UInt16: DataConvertible {}
extension UInt32: DataConvertible {}
extension UInt64: DataConvertible {}

extension Float: DataConvertible {
  fileprivate func json() throws(DatabaseError) -> JSONValue { try Double(self).json() }
}

extension Double: DataConvertible {
  fileprivate func json() throws(DatabaseError) -> JSONValue {
    guard isFinite else {
      throw .invalid("the number \(self) cannot be stored")
    }
    return Int64(exactly: self).map { .integer($0) } ?? .double(self)
  }
}

extension CGFloat: DataConvertible {
  fileprivate func json() throws(DatabaseError) -> JSONValue { try Double(self).json() }
}

extension Decimal: DataConvertible {
  fileprivate func json() throws(DatabaseError) -> JSONValue {
    // The text is exact; the number's own conversion to a double is not the nearest one.
    let text = description
    if let whole = Int64(text) { return .integer(whole) }
    return try (Double(text) ?? .nan).json()
  }
}

extension NSNull: DataConvertible {
  fileprivate func json() -> JSONValue { .null }
}

extension NSString: DataConvertible {
  fileprivate func json() -> JSONValue { .string(description) }
}

extension NSNumber: DataConvertible {
  fileprivate func json() throws(DatabaseError) -> JSONValue {
    if let decimal = self as? NSDecimalNumber { return try decimal.decimalValue.json() }
    // Only booleans have the type code of a C character or of a C bool.
    let type = String(cString: objCType)
    if type == "c" || type == "B" { return .bool(boolValue) }
    if type == "Q" { return uint64Value.json() }
    return type == "d" || type == "f" ? try doubleValue.json() : .integer(int64Value)
  }
}

extension Optional: DataContainer {
  fileprivate func json(at level: Int) throws(DatabaseError) -> JSONValue {
    switch self {
    case .none: .null
    case .some(let value): try NodeConversion.json(value, at: level)
    }
  }
}

extension Array: DataContainer {
  fileprivate func json(at level: Int) throws(DatabaseError) -> JSONValue {
    var elements: [JSONValue] = []
    for element in self { elements.append(try NodeConversion.json(element, at: level)) }
    return .array(elements)
  }
}

extension Dictionary: DataContainer {
  fileprivate func json(at level: Int) throws(DatabaseError) -> JSONValue {
    var members: [JSONMember] = []
    for (key, value) in self {
      guard let name = key as? String else {
        throw .invalid("a stored dictionary needs string keys")
      }
      members.append(JSONMember(name, try NodeConversion.json(value, at: level)))
    }
    return .object(members)
  }
}

/// Values that the server fills in when it applies a write.
public enum ServerValue {
  /// The server's time, in milliseconds since 1970.
  public static func timestamp() -> [String: any Sendable] {
    [".sv": "timestamp"]
  }

  /// The number stored at the location plus this one, or just this one if no number is stored.
  public static func increment(_ delta: Int) -> [String: any Sendable] {
    [".sv": ["increment": delta]]
  }

  /// The number stored at the location plus this one, or just this one if no number is stored.
  public static func increment(_ delta: Double) -> [String: any Sendable] {
    [".sv": ["increment": delta]]
  }

  /// The number stored at the location plus this one, or just this one if no number is stored.
  public static func increment(_ delta: NSNumber) -> [String: any Sendable] {
    switch try? delta.json() {
    case .integer(let value)?: increment(Int(value))
    case .double(let value)?: increment(value)
    case .null?, .bool?, .string?, .array?, .object?, nil: increment(delta.doubleValue)
    }
  }
}
