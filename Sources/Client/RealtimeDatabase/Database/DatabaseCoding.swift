public import Foundation
internal import RealtimeCore

/// Writing values of types of one's own.
extension DatabaseReference {
  /// Replaces the data by a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: How the value is written.
  ///   - completion: Called when the server has stored or rejected it, on ``Database/callbackQueue``.
  /// - Throws: `EncodingError`; then nothing is written and the completion is not called.
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder(),
    completion: (((any Error)?) -> Void)? = nil
  ) throws {
    setValue(try encoder.encode(value)) { error, _ in completion?(error) }
  }

  /// Replaces the data by a value and waits for the server.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - encoder: How the value is written.
  /// - Returns: This location.
  /// - Throws: `EncodingError`, ``DatabaseError``, or `CancellationError` when the task is cancelled.
  @discardableResult
  public func setValue<Value: Encodable>(
    from value: Value,
    encoder: Database.Encoder = Database.Encoder()
  ) async throws -> DatabaseReference {
    try await setValue(try encoder.encode(value))
  }
}

/// Reading values of types of one's own.
extension DataSnapshot {
  /// The data as a value of a type.
  ///
  /// - Parameters:
  ///   - type: The type; an optional one also stands for no data.
  ///   - decoder: How the data are read.
  /// - Returns: The value.
  /// - Throws: `DecodingError.valueNotFound` when there are no data, or another `DecodingError`.
  public func data<Value: Decodable>(
    as type: Value.Type,
    decoder: Database.Decoder = Database.Decoder()
  ) throws -> Value {
    try decoder.decode(type, json: json)
  }
}

extension Database {
  /// Turns `Encodable` values into what can be written.
  ///
  /// It is an object, as in the original: what is set later counts for all who have it.
  /// The strategies are those of Foundation's encoder of JSON. Properties that are nil are left out.
  public final class Encoder {
    /// How dates are written.
    public var dateEncodingStrategy = JSONEncoder.DateEncodingStrategy.deferredToDate
    /// How bytes are written.
    public var dataEncodingStrategy = JSONEncoder.DataEncodingStrategy.base64
    /// How numbers are written that are not finite, which no database stores.
    public var nonConformingFloatEncodingStrategy =
      JSONEncoder.NonConformingFloatEncodingStrategy.throw
    /// How the names of properties become keys.
    public var keyEncodingStrategy = JSONEncoder.KeyEncodingStrategy.useDefaultKeys
    /// What the values may ask for while they are encoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes an encoder with the default strategies.
    public init() {}

    /// Turns a value into what `setValue` takes.
    ///
    /// - Parameter value: The value.
    /// - Returns: The same in the types of ``DataSnapshot/value``.
    /// - Throws: `EncodingError`, or what the value itself throws.
    public func encode<Value: Encodable>(_ value: Value) throws -> Any {
      let encoder = JSONEncoder()
      encoder.dateEncodingStrategy = dateEncodingStrategy
      encoder.dataEncodingStrategy = dataEncodingStrategy
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
  /// Turns what was read into `Decodable` values.
  ///
  /// It is an object, as in the original: what is set later counts for all who have it.
  /// The strategies are those of Foundation's decoder of JSON.
  public final class Decoder {
    /// How dates are read.
    public var dateDecodingStrategy = JSONDecoder.DateDecodingStrategy.deferredToDate
    /// How bytes are read.
    public var dataDecodingStrategy = JSONDecoder.DataDecodingStrategy.base64
    /// How numbers are read that are not finite, which no database stores.
    public var nonConformingFloatDecodingStrategy =
      JSONDecoder.NonConformingFloatDecodingStrategy.throw
    /// How keys become the names of properties.
    public var keyDecodingStrategy = JSONDecoder.KeyDecodingStrategy.useDefaultKeys
    /// What the values may ask for while they are decoded.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Makes a decoder with the default strategies.
    public init() {}

    /// Turns data into a value.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - value: The data, as in ``DataSnapshot/value``.
    /// - Returns: The value.
    /// - Throws: `DecodingError`; ``DatabaseError`` when the data are of a type that none are stored as.
    public func decode<Value: Decodable>(_ type: Value.Type, from value: Any) throws -> Value {
      try decode(type, json: try NodeConversion.json(value).text)
    }

    func decode<Value: Decodable>(_ type: Value.Type, json: String) throws -> Value {
      let decoder = JSONDecoder()
      decoder.dateDecodingStrategy = dateDecodingStrategy
      decoder.dataDecodingStrategy = dataDecodingStrategy
      decoder.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
      decoder.keyDecodingStrategy = keyDecodingStrategy
      decoder.userInfo = userInfo
      return try decoder.decode(type, from: Data(json.utf8))
    }
  }
}

/// A date that the server sets if it is nil when the value is written.
///
/// ```swift
/// struct Message: Codable {
///   var text: String
///   @ServerTimestamp var sent: Date?
/// }
/// try messages.childByAutoId().setValue(from: Message(text: "Hello", sent: nil))
/// ```
///
/// It is stored as milliseconds since 1970, whatever the strategy for dates is.
@propertyWrapper
public struct ServerTimestamp: Codable, Hashable, Sendable {
  /// The date; nil until it was read back.
  public var wrappedValue: Date?

  /// Makes a date, or with nil the time at which the server stores it.
  public init(wrappedValue value: Date?) {
    wrappedValue = value
  }

  /// Reads milliseconds since 1970.
  ///
  /// - Parameter decoder: Where from.
  /// - Throws: `DecodingError` when there is no number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      wrappedValue = nil
    } else {
      wrappedValue = Date(timeIntervalSince1970: try container.decode(Double.self) / 1_000)
    }
  }

  /// Writes milliseconds since 1970, or what the server replaces by them.
  ///
  /// - Parameter encoder: Where to.
  /// - Throws: What the encoder throws.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let date = wrappedValue else { return try container.encode([".sv": "timestamp"]) }
    try container.encode(Int64((date.timeIntervalSince1970 * 1_000).rounded()))
  }
}
