/// One line of a recording: the passing of time, something that happened then, or both.
package struct RecordedStep: Equatable, Sendable {
  /// The time by the server's clock, in milliseconds since 1970, if it was told anew.
  package var time: Int64?
  /// What happened; nil when only time has passed.
  package var entry: RecordingEntry?

  /// Makes a step.
  package init(time: Int64? = nil, entry: RecordingEntry? = nil) {
    self.time = time
    self.entry = entry
  }

  /// The events of the step, in order.
  package var events: [Event] {
    let tick = time.map { [Event.tick(now: $0)] } ?? []
    guard case .event(let event)? = entry else { return tick }
    return tick + [event]
  }
}
