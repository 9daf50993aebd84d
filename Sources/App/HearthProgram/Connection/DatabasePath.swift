import RealtimeCore

/// A path on the command line.
enum DatabasePath {
  /// Parses a path and checks that every key in it is legal.
  ///
  /// - Throws: ``CommandFailure`` with what is wrong with the path.
  static func parse(_ text: String) throws(CommandFailure) -> String {
    let path = Path(wire: text)
    // The client's own state is below `.info`, a key that no data can have.
    let named = path.first == ".info" ? path.rest : path
    if let problem = Validation.problem(withPath: named) {
      throw CommandFailure(.usage, description: "the path \(text) is not legal: \(problem)")
    }
    return path.wireText
  }

  /// Parses a JSON value.
  ///
  /// - Throws: ``CommandFailure`` with the position of the error.
  static func json(_ bytes: [UInt8], from source: String) throws(CommandFailure) -> JSONValue {
    do throws(JSONError) {
      return try JSONParser.parse(bytes)
    } catch {
      let line = bytes.prefix(error.offset).count { $0 == UInt8(ascii: "\n") } + 1
      throw CommandFailure(.usage, description: "\(source), line \(line): \(error)")
    }
  }
}
