public import Foundation
internal import RealtimeCore

/// Writing `Encodable` values.
extension DatabaseReference {
  /// Replaces the data with a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: Encodes the value.
  ///   - completion: Called on ``Database/callbackQueue`` when the server has stored or rejected
  ///     it.
  /// - Throws: `EncodingError`; in that case nothing is written and `completion` is not called.
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder(),
    completion: (((any Error)?) -> Void)?
  ) throws {
    setValue(try encoder.encode(value)) { error, _ in completion?(error) }
  }

  /// Replaces the data with a value and waits for the server.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: Encodes the value.
  /// - Returns: This location.
  /// - Throws: `EncodingError`; ``DatabaseError``, of kind `cancelled` when the task is cancelled.
  @discardableResult
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder()
  ) async throws -> DatabaseReference {
    try await setValue(try encoder.encode(value))
  }
}

/// Reading `Decodable` values.
extension DataSnapshot {
  /// Decodes the data as a value of a type.
  ///
  /// - Parameters:
  ///   - type: The type; an optional type decodes missing data as nil.
  ///   - decoder: Decodes the value.
  /// - Returns: The value.
  /// - Throws: `DecodingError.valueNotFound` when there is no data, or another `DecodingError`.
  public func data<Value: Decodable>(
    as type: Value.Type,
    decoder: Database.Decoder = Database.Decoder()
  ) throws -> Value {
    try decoder.decode(type, json: json)
  }
}

extension Database {
  /// Encodes `Encodable` values for writing.
  ///
  /// As in the original, it is a class: changing a strategy affects everyone who holds the encoder.
  /// The strategies are those of Foundation's `JSONEncoder`. Properties that are nil are left out.
  public final class Encoder {
    /// How dates can be written.
    public typealias DateEncodingStrategy = JSONEncoder.DateEncodingStrategy
    /// How numbers that are not finite can be written.
    public typealias NonConformingFloatEncodingStrategy =
      JSONEncoder.NonConformingFloatEncodingStrategy
    /// How property names can become keys.
    public typealias KeyEncodingStrategy = JSONEncoder.KeyEncodingStrategy

    /// How bytes can be written.
    public enum DataEncodingStrategy: Sendable {
      /// As `Data` encodes itself: an array of numbers.
      case deferredToData
      /// As text in Base64.
      case base64
      /// As bytes, which no database can store: encoding throws.
      case blob
      /// As a function encodes them.
      case custom(@Sendable (Data, any Swift.Encoder) throws -> Void)

      fileprivate var ofJSON: JSONEncoder.DataEncodingStrategy {
        switch self {
        case .deferredToData: .deferredToData
        case .base64: .base64
        case .blob:
          .custom { data, encoder in
            let problem = EncodingError.Context(
              codingPath: encoder.codingPath,
              debugDescription: "a database cannot store blobs; use base64"
            )
            throw EncodingError.invalidValue(data, problem)
          }
        case .custom(let encode): .custom(encode)
        }
      }
    }

    /// How dates are written.
    public var dateEncodingStrategy = DateEncodingStrategy.deferredToDate
    /// How bytes are written.
    public var dataEncodingStrategy = DataEncodingStrategy.base64
    /// How to write numbers that are not finite, which no database can store.
    public var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.throw
    /// How property names become keys.
    public var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys
    /// Context for the values that are encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder with the default strategies.
    public init() {}

    /// Encodes a value into a form that `setValue` takes.
    ///
    /// - Parameter value: The value.
    /// - Returns: The encoded value in the types of ``DataSnapshot/value``.
    /// - Throws: `EncodingError`, or whatever the value's `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Any {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = dateEncodingStrategy
      encoder.dataEncodingStrategy = dataEncodingStrategy.ofJSON
      encoder.nonConformingFloatEncodingStrategy = nonConformingFloatEncodingStrategy
      encoder.keyEncodingStrategy = keyEncodingStrategy
      encoder.userInfo = userInfo
      let bytes = try encoder.encode(value)
      do throws(JSONError) {
        return NodeConversion.value(try JSONParser.parse([UInt8](bytes)))
      } catch {
        let problem = EncodingError.Context(codingPath: [], debugDescription: "\(error)")
        throw EncodingError.invalidValue(value, problem)
      }
    }
  }
}

extension Database {
  /// Decodes `Decodable` values from data that was read.
  ///
  /// As in the original, it is a class: changing a strategy affects everyone who holds the decoder.
  /// The strategies are those of Foundation's `JSONDecoder`.
  public final class Decoder {
    /// How dates can be read.
    public typealias DateDecodingStrategy = JSONDecoder.DateDecodingStrategy
    /// How numbers that are not finite can be read.
    public typealias NonConformingFloatDecodingStrategy =
      JSONDecoder.NonConformingFloatDecodingStrategy
    /// How keys can become property names.
    public typealias KeyDecodingStrategy = JSONDecoder.KeyDecodingStrategy

    /// How bytes can be read.
    public enum DataDecodingStrategy: Sendable {
      /// As `Data` decodes itself: an array of numbers.
      case deferredToData
      /// As text in Base64.
      case base64
      /// As bytes, which no database can store: decoding throws.
      case blob
      /// As a function decodes them.
      case custom(@Sendable (any Swift.Decoder) throws -> Data)

      fileprivate var ofJSON: JSONDecoder.DataDecodingStrategy {
        switch self {
        case .deferredToData: .deferredToData
        case .base64: .base64
        case .blob:
          .custom { decoder in
            let problem = DecodingError.Context(
              codingPath: decoder.codingPath,
              debugDescription: "a database cannot store blobs; use base64"
            )
            throw DecodingError.dataCorrupted(problem)
          }
        case .custom(let decode): .custom(decode)
        }
      }
    }

    /// How dates are read.
    public var dateDecodingStrategy = DateDecodingStrategy.deferredToDate
    /// How bytes are read.
    public var dataDecodingStrategy = DataDecodingStrategy.base64
    /// How to read numbers that are not finite, which no database can store.
    public var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw
    /// How keys become property names.
    public var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys
    /// Context for the values that are decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder with the default strategies.
    public init() {}

    /// Decodes data into a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - value: The data, as in ``DataSnapshot/value``.
    /// - Returns: The value.
    /// - Throws: `DecodingError`; ``DatabaseError`` when `value` has a type that cannot be stored.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: Any) throws -> Value {
      try decode(type, json: try NodeConversion.json(value).text)
    }

    func decode<Value: Decodable>(_ type: Value.Type, json: String) throws -> Value {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = dateDecodingStrategy
      decoder.dataDecodingStrategy = dataDecodingStrategy.ofJSON
      decoder.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
      decoder.keyDecodingStrategy = keyDecodingStrategy
      decoder.userInfo = userInfo
      var text = json
      var forms: ContainerForms?
      var mismatch: DecodingError?
      while true {
        do {
          return try decoder.decode(type, from: Data(text.utf8))
        } catch DecodingError.typeMismatch(let expected, let context) {
          mismatch = mismatch ?? DecodingError.typeMismatch(expected, context)
          var changed = try forms ?? ContainerForms(JSONParser.parse(json))
          guard changed.change(at: context.codingPath) else {
            throw mismatch ?? DecodingError.typeMismatch(expected, context)
          }
          text = changed.json.text
          forms = changed
        }
      }
    }
  }
}

/// Data whose containers get the forms that a type expects.
///
/// Children whose keys are mostly 0, 1, 2 … are read as an array, although the type may call them a
/// dictionary; only the type knows.
private struct ContainerForms {
  /// The number of containers that are changed one by one.
  private static let limit = 256

  private(set) var json: JSONValue
  /// Places that have been changed because the type has complained about them.
  private var decided: Set<[String]> = []
  /// The lengths of the arrays that have been changed because they are similar to one of those.
  private var guesses: [[String]: Int] = [:]

  init(_ json: JSONValue) { self.json = json }

  /// Changes the form of a container, and that of similar ones.
  ///
  /// - Returns: Whether the type may complain about something else now.
  mutating func change(at codingPath: [any CodingKey]) -> Bool {
    let path = codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }
    guard decided.count < Self.limit, decided.insert(path).inserted else { return false }
    let before = json
    json = changed(json, at: [], like: path, isUndone: guesses[path] != nil)
    return json != before
  }

  private mutating func changed(
    _ json: JSONValue,
    at place: [String],
    like path: [String],
    isUndone: Bool
  ) -> JSONValue {
    guard place.count < path.count else {
      let isExact = place == path
      guard isExact || (isSimilar(place, to: path) && !decided.contains(place)) else { return json }
      if isUndone {
        return guesses.removeValue(forKey: place).map { Self.array(of: json, count: $0) } ?? json
      }
      guard let elements = json.elements else { return json }
      if !isExact { guesses[place] = elements.count }
      let members = elements.enumerated().map { JSONMember(String($0), $1) }
      return .object(members.filter { $0.value != .null })
    }
    switch json {
    case .null, .bool, .integer, .double, .string: return json
    case .array(let elements):
      var result: [JSONValue] = []
      for (index, element) in elements.enumerated() {
        result.append(changed(element, at: place + [String(index)], like: path, isUndone: isUndone))
      }
      return .array(result)
    case .object(let members):
      var result: [JSONMember] = []
      for member in members {
        let value = changed(member.value, at: place + [member.name], like: path, isUndone: isUndone)
        result.append(JSONMember(member.name, value))
      }
      return .object(result)
    }
  }

  /// The array that an object was; what has been changed inside it stays changed.
  private static func array(of json: JSONValue, count: Int) -> JSONValue {
    guard case .object(let members) = json else { return json }
    var elements = [JSONValue](repeating: .null, count: count)
    for member in members {
      guard let index = Int(member.name), elements.indices.contains(index) else { return json }
      elements[index] = member.value
    }
    return .array(elements)
  }

  /// Whether two places at the same depth are likely to have the same type.
  private func isSimilar(_ place: [String], to path: [String]) -> Bool {
    place.last == path.last || place.dropLast() == path.dropLast()
  }
}

/// A date that the server fills in if it is nil when the value is written.
///
/// ```swift
/// struct Message: Codable {
///   var text: String
///   @ServerTimestamp var sent: Date?
/// }
/// try messages.childByAutoId().setValue(from: Message(text: "Hello", sent: nil))
/// ```
///
/// It is stored as milliseconds since 1970, regardless of the date strategy.
@propertyWrapper
public struct ServerTimestamp: Codable, Hashable, Sendable {
  /// The date; nil until it has been read back.
  public var wrappedValue: Date?

  /// Wraps a date; nil stands for the time at which the server stores the value.
  public init(wrappedValue value: Date?) {
    wrappedValue = value
  }

  /// Reads milliseconds since 1970.
  ///
  /// - Parameter decoder: The decoder to read from.
  /// - Throws: `DecodingError` when there is no number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      wrappedValue = nil
    } else {
      wrappedValue = Date(timeIntervalSince1970: try container.decode(Double.self) / 1_000)
    }
  }

  /// Writes milliseconds since 1970, or the placeholder for the server's time.
  ///
  /// - Parameter encoder: The encoder to write to.
  /// - Throws: Whatever the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let date = wrappedValue else { return try container.encode([".sv": "timestamp"]) }
    try container.encode(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
  }
}

extension KeyedDecodingContainer {
  /// Reads a date that the server fills in; nil if the data has none, as for optional properties.
  ///
  /// The compiler calls it for properties with ``ServerTimestamp``.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - key: The key of the property.
  /// - Returns: The date.
  /// - Throws: `DecodingError` when there is something other than a number.
  public func decode(_ type: ServerTimestamp.Type, forKey key: Key) throws -> ServerTimestamp {
    try decodeIfPresent(type, forKey: key) ?? ServerTimestamp(wrappedValue: nil)
  }
}
