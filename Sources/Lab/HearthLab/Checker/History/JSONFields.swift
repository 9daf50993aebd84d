import RealtimeCore

/// The members of a JSON object, by name; those without a value are left out.
struct JSONFields: ExpressibleByDictionaryLiteral {
  let object: JSONValue

  init(_ object: JSONValue) {
    self.object = object
  }

  init(dictionaryLiteral elements: (String, any JSONField)...) {
    object = .object(
      elements.compactMap { name, value in value.json.map { JSONMember(name, $0) } }
    )
  }

  /// The value of a member, which may be missing if it is optional.
  ///
  /// - Throws: ``HistoryError`` that names the member.
  func callAsFunction<Value: JSONField>(_ name: String) throws(HistoryError) -> Value {
    guard let value = Value.read(object[name] ?? .null) else { throw missing(name) }
    return value
  }

  func missing(_ name: String) -> HistoryError {
    HistoryError("\"\(name)\" is missing or of the wrong kind")
  }

  static func + (left: Self, right: Self) -> Self {
    Self(.object((left.object.members ?? []) + (right.object.members ?? [])))
  }
}

/// What a member of a JSON object can be.
protocol JSONField {
  var json: JSONValue? { get }

  /// The value that JSON stands for; nil for JSON of another kind.
  static func read(_ json: JSONValue) -> Self?
}

extension JSONFields: JSONField {
  var json: JSONValue? { object }
  static func read(_ json: JSONValue) -> JSONFields? { JSONFields(json) }
}

extension Optional: JSONField where Wrapped: JSONField {
  var json: JSONValue? { flatMap(\.json) }
  static func read(_ json: JSONValue) -> Wrapped?? { .some(Wrapped.read(json)) }
}

extension JSONValue: JSONField {
  var json: JSONValue? { self }
  static func read(_ json: JSONValue) -> JSONValue? { json == .null ? nil : json }
}

extension Bool: JSONField {
  var json: JSONValue? { .bool(self) }
  static func read(_ json: JSONValue) -> Bool? { json.bool }
}

extension String: JSONField {
  var json: JSONValue? { .string(self) }
  static func read(_ json: JSONValue) -> String? { json.string }
}

extension Array: JSONField where Element: JSONField {
  var json: JSONValue? { .array(compactMap(\.json)) }
  static func read(_ json: JSONValue) -> [Element]? {
    json.elements?.compactMap(Element.read)
  }
}

extension Double: JSONField {
  var json: JSONValue? { .double(self) }
  static func read(_ json: JSONValue) -> Double? {
    if case .double(let number) = json { number } else { nil }
  }
}

extension JSONField where Self: FixedWidthInteger {
  var json: JSONValue? { .integer(Int64(self)) }
  static func read(_ json: JSONValue) -> Self? { json.integer.flatMap(Self.init(exactly:)) }
}

extension Int: JSONField {}
extension Int32: JSONField {}
extension Int64: JSONField {}

extension UInt64: JSONField {
  /// JSON numbers cannot hold every unsigned 64-bit integer.
  var json: JSONValue? { .string(String(self)) }
  static func read(_ json: JSONValue) -> UInt64? { json.string.flatMap(UInt64.init) }
}

extension JSONField where Self: RawRepresentable<String> {
  var json: JSONValue? { .string(rawValue) }
  static func read(_ json: JSONValue) -> Self? { json.string.flatMap(Self.init(rawValue:)) }
}
