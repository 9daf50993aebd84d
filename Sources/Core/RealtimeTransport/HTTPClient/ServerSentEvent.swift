/// One event of a stream of `text/event-stream`.
package struct ServerSentEvent: Hashable, Sendable {
  /// The kind of event, such as "put".
  package var name: String
  /// The data, lines joined.
  package var data: String

  /// Makes an event.
  package init(name: String, data: String) {
    self.name = name
    self.data = data
  }
}
