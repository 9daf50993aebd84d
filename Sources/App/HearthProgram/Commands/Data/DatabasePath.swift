import RealtimeCore

/// A path on the command line.
enum DatabasePath {
  /// Reads a path and checks that every key of it is legal.
  ///
  /// - Throws: ``CommandFailure`` that says what is wrong with the path.
  static func parse(_ text: String) throws(CommandFailure) -> String {
    let path = Path(wire: text)
    // What the client says of itself is found below a key that no data can have.
    let named = path.first == ".info" ? path.rest : path
    if let problem = Validation.problem(withPath: named) {
      throw CommandFailure(.usage, description: "the path \(text) is not legal: \(problem)")
    }
    return path.wireText
  }

  /// Reads a JSON value.
  ///
  /// - Throws: ``CommandFailure`` that says where it is wrong.
  static func json(_ bytes: [UInt8], from source: String) throws(CommandFailure) -> JSONValue {
    do throws(JSONError) {
      return try JSONParser.parse(bytes)
    } catch {
      let line = bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
      throw CommandFailure(.usage, description: "\(source), line \(line): \(error)")
    }
  }
}
