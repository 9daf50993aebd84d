import Synchronization

/// Events on their way from other threads to the program's thread.
///
/// A lock-free stack: senders push onto its head, and the program takes the whole stack at once and
/// reverses it. Neither side ever waits for the other.
package final class Mailbox<Event: Sendable>: Sendable {
  /// One event, linked to the one added before it.
  private final class Entry: Sendable {
    let event: Event
    let earlier: Unmanaged<Entry>?

    init(event: Event, earlier: Unmanaged<Entry>?) {
      self.event = event
      self.earlier = earlier
    }
  }

  private let latest = Atomic<Unmanaged<Entry>?>(nil)
  private let wake: @Sendable () -> Void

  /// Makes an empty mailbox.
  ///
  /// - Parameter wake: Ends the terminal's wait; called from any thread when the mailbox stops
  ///   being empty.
  package init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  deinit {
    _ = takeAll()
  }

  /// Adds an event after all others; may be called from any thread.
  package func add(_ event: Event) {
    var earlier = latest.load(ordering: .relaxed)
    while true {
      let entry = Unmanaged.passRetained(Entry(event: event, earlier: earlier))
      let result = latest.compareExchange(
        expected: earlier,
        desired: entry,
        successOrdering: .acquiringAndReleasing,
        failureOrdering: .acquiring
      )
      if result.exchanged { break }
      entry.release()
      earlier = result.original
    }
    if earlier == nil { wake() }
  }

  /// Removes and returns all events, in the order in which they were added.
  ///
  /// - Complexity: O(n) in the number of events.
  package func takeAll() -> [Event] {
    var events: [Event] = []
    var next = latest.exchange(nil, ordering: .acquiringAndReleasing)
    while let entry = next?.takeRetainedValue() {
      events.append(entry.event)
      next = entry.earlier
    }
    return events.reversed()
  }
}

/// Events on their way from other threads to the program's thread.
package typealias Inbox = Mailbox<Event>
