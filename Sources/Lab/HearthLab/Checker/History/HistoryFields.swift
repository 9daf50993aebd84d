import RealtimeCore

/// The members of one line of a history, by name; those without a value are left out.
struct HistoryFields: ExpressibleByDictionaryLiteral {
  let json: JSONValue

  init(_ json: JSONValue) {
    self.json = json
  }

  init(dictionaryLiteral elements: (String, any HistoryValue)...) {
    json = .object(
      elements.compactMap { name, value in
        let json = value.json
        return json == .null ? nil : JSONMember(name, json)
      }
    )
  }

  /// The value of a member, which may be missing if it is optional.
  ///
  /// - Throws: ``HistoryError`` that names the member.
  func callAsFunction<Value: HistoryValue>(_ name: String) throws(HistoryError) -> Value {
    guard let value = Value.read(json[name] ?? .null) else { throw missing(name) }
    return value
  }

  func missing(_ name: String) -> HistoryError {
    HistoryError("\"\(name)\" is missing or of the wrong kind")
  }

  static func + (left: Self, right: Self) -> Self {
    Self(.object((left.json.members ?? []) + (right.json.members ?? [])))
  }
}

/// What a member of a line can be.
protocol HistoryValue {
  var json: JSONValue { get }

  /// The value that JSON stands for; nil for JSON of another kind.
  static func read(_ json: JSONValue) -> Self?
}

extension Optional: HistoryValue where Wrapped: HistoryValue {
  var json: JSONValue { self?.json ?? .null }
  static func read(_ json: JSONValue) -> Wrapped?? { .some(Wrapped.read(json)) }
}

extension JSONValue: HistoryValue {
  var json: JSONValue { self }
  static func read(_ json: JSONValue) -> JSONValue? { json == .null ? nil : json }
}

extension Bool: HistoryValue {
  var json: JSONValue { .bool(self) }
  static func read(_ json: JSONValue) -> Bool? { json.bool }
}

extension String: HistoryValue {
  var json: JSONValue { .string(self) }
  static func read(_ json: JSONValue) -> String? { json.string }
}

extension Array: HistoryValue where Element: HistoryValue {
  var json: JSONValue { .array(map(\.json)) }
  static func read(_ json: JSONValue) -> [Element]? { json.elements?.compactMap(Element.read) }
}

extension HistoryValue where Self: FixedWidthInteger {
  var json: JSONValue { .integer(Int64(self)) }
  static func read(_ json: JSONValue) -> Self? { json.integer.flatMap(Self.init(exactly:)) }
}

extension Int: HistoryValue {}
extension Int32: HistoryValue {}
extension Int64: HistoryValue {}

extension UInt64: HistoryValue {
  /// JSON numbers cannot hold every unsigned 64-bit integer.
  var json: JSONValue { .string(String(self)) }
  static func read(_ json: JSONValue) -> UInt64? { json.string.flatMap(UInt64.init) }
}

extension HistoryValue where Self: RawRepresentable<String> {
  var json: JSONValue { .string(rawValue) }
  static func read(_ json: JSONValue) -> Self? { json.string.flatMap(Self.init(rawValue:)) }
}
