package enum RecordingEntry: Equatable, Sendable {
  /// A program started: the first one, or one that followed it.
  case start(RecordingStart)
  /// The program received an event.
  case event(Event)
}
