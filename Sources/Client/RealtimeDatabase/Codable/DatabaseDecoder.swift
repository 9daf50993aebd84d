public import Foundation
internal import RealtimeCore

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
