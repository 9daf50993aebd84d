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
