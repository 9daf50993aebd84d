public import Foundation

/// A date that the server sets when a value with nil in its place is written.
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
