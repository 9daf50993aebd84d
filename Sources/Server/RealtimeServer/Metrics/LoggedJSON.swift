package import RealtimeCore

/// JSON in the metadata of a log message, which handlers of JSON can put in as it is.
package struct LoggedJSON: CustomStringConvertible, Sendable {
  /// The value.
  package let json: JSONValue

  /// Wraps a value.
  package init(_ json: JSONValue) {
    self.json = json
  }

  package var description: String { json.text }
}
