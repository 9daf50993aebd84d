/// One thing that a recording holds.
package enum RecordingEntry: Equatable, Sendable {
  /// A program began, the first one or another after it.
  case start(RecordingStart)
  /// The program took notice of an event.
  case event(Event)
}
