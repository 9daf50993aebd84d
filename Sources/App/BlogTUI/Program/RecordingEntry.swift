package enum RecordingEntry: Equatable, Sendable {
  /// A program started: the first one, or one that followed it.
  case start(RecordingStart)
  case event(Event)
}
