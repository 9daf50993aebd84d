internal import Foundation
internal import RealtimeCore

/// Decodes a value from data in the shape that its type asks for.
///
/// Data does not say whether children with the keys 0, 1, 2 … are an array or a dictionary: only the
/// type knows. A container of either kind is therefore made from both forms of JSON.
struct DataDecoder: Decoder, SingleValueDecodingContainer {
  /// How many elements an array may lack; data of a stranger must not become a huge one.
  private static let maximumHoles = 1_024

  let json: JSONValue
  let strategies: Database.Decoder
  var codingPath: [any CodingKey] = []
  /// Whether the keys of a container are those of a dictionary, which no strategy changes.
  var keepsKeys = false

  var userInfo: [CodingUserInfoKey: Any] { strategies.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(Members(decoder: self, values: try members()))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    Elements(decoder: self, values: try elements())
  }

  func singleValueContainer() -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool { json == .null }

  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value: Any? =
      switch type {
      case is String.Type: json.string
      case is Bool.Type: json.bool
      case is Double.Type: try floatingPoint(Double.self)
      case is Float.Type: try floatingPoint(Float.self)
      case let type as any FixedWidthInteger.Type: try integer(type)
      case is Date.Type: try date()
      case is Data.Type: try data()
      case is URL.Type: try json.string.map { try valid(URL(string: $0)) }
      case is Decimal.Type: try json.number.map { _ in try valid(Decimal(string: json.text)) }
      default: try Value(from: child(json, keepsKeys: type is any StringKeyed.Type))
      }
    guard let value = value as? Value else { throw mismatch(type) }
    return value
  }

  fileprivate func child(
    _ json: JSONValue,
    at key: (any CodingKey)? = nil,
    keepsKeys: Bool = false
  ) -> DataDecoder {
    let path = key.map { codingPath + [$0] } ?? codingPath
    return DataDecoder(json: json, strategies: strategies, codingPath: path, keepsKeys: keepsKeys)
  }

  // MARK: Containers

  private func members() throws -> [String: JSONValue] {
    switch json {
    case .object(let members):
      if keepsKeys, let keys = members.equalNames {
        throw DecodingError.dataCorrupted(problem(Validation.problem(withEqualKeys: keys)))
      }
      return Dictionary(members.map { (name($0.name), $0.value) }) { _, later in later }
    case .array(let elements):
      let members = elements.enumerated().filter { $0.element != .null }
      return Dictionary(uniqueKeysWithValues: members.map { (String($0.offset), $0.element) })
    case .null, .bool, .integer, .double, .string: throw mismatch([String: Any].self)
    }
  }

  private func elements() throws -> [JSONValue] {
    if case .array(let elements) = json { return elements }
    guard case .object(let members) = json else { throw mismatch([Any].self) }
    let indices = members.compactMap { UInt32($0.name) }
    let count = indices.max().map { Int($0) + 1 } ?? 0
    guard indices.map(String.init) == members.map(\.name),
      count - members.count <= Self.maximumHoles
    else { throw mismatch([Any].self) }
    var elements = [JSONValue](repeating: .null, count: count)
    for (index, member) in zip(indices, members) { elements[Int(index)] = member.value }
    return elements
  }

  /// The name of the property whose value is stored at a key.
  private func name(_ key: String) -> String {
    guard !keepsKeys else { return key }
    switch strategies.keyDecodingStrategy {
    case .useDefaultKeys: return key
    case .custom(let convert): return convert(codingPath + [Name(key)]).stringValue
    case .convertFromSnakeCase:
      let words = key.split(separator: "_")
      guard words.count > 1 else { return key }
      let name = words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
      return key.prefix { $0 == "_" } + name + key[words[words.count - 1].endIndex...]
    @unknown default: return key
    }
  }

  // MARK: Single values

  private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number? {
    switch json {
    case .integer(let number): try valid(Number(exactly: number))
    case .double(let number): try valid(Number(exactly: number))
    case .null, .bool, .string, .array, .object: nil
    }
  }

  private func floatingPoint<Number: BinaryFloatingPoint>(_ type: Number.Type) throws -> Number? {
    if case .convertFromString(let positive, let negative, let nan) =
      strategies.nonConformingFloatDecodingStrategy, let text = json.string
    {
      let numbers = [positive: Number.infinity, negative: -Number.infinity, nan: Number.nan]
      return numbers[text]
    }
    return try json.number.map { try valid(Number($0).isFinite ? Number($0) : nil) }
  }

  private func date() throws -> Date {
    switch strategies.dateDecodingStrategy {
    case .secondsSince1970: return Date(timeIntervalSince1970: try decode(Double.self))
    case .millisecondsSince1970:
      return Date(timeIntervalSince1970: try decode(Double.self) / 1_000)
    case .iso8601:
      let text = try decode(String.self)
      return try valid(try? Date(text, strategy: .iso8601))
    case .custom(let decode): return try decode(self)
    case .deferredToDate: return try Date(from: self)
    @unknown default: return try Date(from: self)
    }
  }

  private func data() throws -> Data {
    switch strategies.dataDecodingStrategy {
    case .deferredToData: try Data(from: self)
    case .base64: try valid(Data(base64Encoded: try decode(String.self)))
    case .blob:
      throw DecodingError.dataCorrupted(problem("a database cannot store blobs; use base64"))
    case .custom(let decode): try decode(self)
    }
  }

  // MARK: Errors

  private func valid<Value>(_ value: Value?) throws -> Value {
    if let value { return value }
    throw DecodingError.dataCorrupted(problem("\(json.text) is not of type \(Value.self)"))
  }

  fileprivate func mismatch(_ type: Any.Type) -> DecodingError {
    guard json != .null else { return .valueNotFound(type, problem("there is no data")) }
    return .typeMismatch(type, problem("the data is not of type \(type)"))
  }

  fileprivate func problem(_ text: String) -> DecodingError.Context {
    DecodingError.Context(codingPath: codingPath, debugDescription: text)
  }
}

/// Dictionaries whose keys are data, and no names of properties.
private protocol StringKeyed {}
extension Dictionary: StringKeyed where Key == String {}

extension JSONValue {
  fileprivate var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .double(let number): number
    case .null, .bool, .string, .array, .object: nil
    }
  }
}

/// A key that no type has declared.
private struct Name: CodingKey {
  let stringValue: String
  var intValue: Int? { Int(stringValue) }

  init(_ text: String) { stringValue = text }
  init(stringValue: String) { self.init(stringValue) }
  init(intValue: Int) { self.init(String(intValue)) }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let decoder: DataDecoder
  let values: [String: JSONValue]

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { values.keys.compactMap(Key.init) }

  private func child(_ key: Key) throws -> DataDecoder {
    if let value = values[key.stringValue] { return decoder.child(value, at: key) }
    throw DecodingError.keyNotFound(key, decoder.problem("there is no \(key.stringValue)"))
  }

  func contains(_ key: Key) -> Bool { values[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try child(key).decodeNil() }

  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try child(key).decode(type)
  }

  func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<Inner> {
    try child(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try child(key).unkeyedContainer()
  }

  func superDecoder() -> any Decoder {
    decoder.child(values["super"] ?? .null, at: Name("super"))
  }

  func superDecoder(forKey key: Key) -> any Decoder {
    decoder.child(values[key.stringValue] ?? .null, at: key)
  }
}

private struct Elements: UnkeyedDecodingContainer {
  let decoder: DataDecoder
  let values: [JSONValue]
  private(set) var currentIndex = 0

  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { values.count }
  var isAtEnd: Bool { currentIndex == values.count }

  private func next(_ type: Any.Type) throws -> DataDecoder {
    let key = Name(intValue: currentIndex)
    if !isAtEnd { return decoder.child(values[currentIndex], at: key) }
    throw DecodingError.valueNotFound(type, decoder.child(.null, at: key).problem("it is the end"))
  }

  mutating func decodeNil() throws -> Bool {
    let isNil = try next(Any?.self).decodeNil()
    if isNil { currentIndex += 1 }
    return isNil
  }

  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let value = try next(type).decode(type)
    currentIndex += 1
    return value
  }

  mutating func nestedContainer<Inner: CodingKey>(
    keyedBy type: Inner.Type
  ) throws -> KeyedDecodingContainer<Inner> {
    let container = try next([String: Any].self).container(keyedBy: type)
    currentIndex += 1
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let container = try next([Any].self).unkeyedContainer()
    currentIndex += 1
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let child = try next((any Decoder).self)
    currentIndex += 1
    return child
  }
}
