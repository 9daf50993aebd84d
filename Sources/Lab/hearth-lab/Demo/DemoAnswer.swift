import NIOConcurrencyHelpers
import RealtimeCore

/// An answer on its way from a task to a thread.
final class DemoAnswer: Sendable {
  private let box = NIOLockedValueBox<JSONValue?>(nil)

  /// What has come.
  var value: JSONValue? { box.withLockedValue { $0 } }

  /// Takes the answer.
  func set(_ value: JSONValue?) { box.withLockedValue { $0 = value } }
}
