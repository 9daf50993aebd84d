public import Foundation
internal import RealtimeCore

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
