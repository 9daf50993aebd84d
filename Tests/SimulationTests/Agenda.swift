import RealtimeCore

/// What is to happen, in the order of virtual time; equal times keep the order they came in.
struct Agenda<Event: Sendable> {
  private struct Moment: Comparable, Sendable {
    let time: Int64
    let number: Int

    static func < (left: Moment, right: Moment) -> Bool {
      (left.time, left.number) < (right.time, right.number)
    }
  }

  private var events = SortedMap<Moment, Event>()
  private var lastNumber = 0

  mutating func add(_ event: Event, at time: Int64) {
    lastNumber += 1
    events.updateValue(event, forKey: Moment(time: time, number: lastNumber))
  }

  mutating func next() -> (time: Int64, event: Event)? {
    guard let (moment, event) = events.first else { return nil }
    events.removeValue(forKey: moment)
    return (moment.time, event)
  }
}
