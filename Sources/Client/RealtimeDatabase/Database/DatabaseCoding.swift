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
    try DataDecoder(json: node.json(.value), strategies: decoder).decode(type)
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
  /// Children whose keys are indexes become an array or a dictionary, as the type asks; elements
  /// that an array lacks are nil. Data with more than 1,024 gaps is not an array.
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
      try DataDecoder(json: try NodeConversion.json(value), strategies: self).decode(type)
    }
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
    try container.encode((date.timeIntervalSince1970 * 1_000).rounded())
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
