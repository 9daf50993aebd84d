import NIOConcurrencyHelpers

/// Events on their way from other threads to the program's thread.
package final class Mailbox<Event: Sendable>: Sendable {
  private let events = NIOLockedValueBox<[Event]>([])
  private let wake: @Sendable () -> Void

  /// Makes an empty mailbox.
  ///
  /// The closure ends the terminal's wait; it is called from any thread when the mailbox stops
  /// being empty.
  package init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Adds an event after all others; may be called from any thread.
  package func add(_ event: Event) {
    let isFirst = events.withLockedValue { events in
      events.append(event)
      return events.count == 1
    }
    if isFirst { wake() }
  }

  /// Removes and returns all events, in the order in which they were added.
  package func takeAll() -> [Event] {
    events.withLockedValue { events in
      defer { events = [] }
      return events
    }
  }
}

/// Events on their way from other threads to the program's thread.
package typealias Inbox = Mailbox<Event>
