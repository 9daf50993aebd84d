internal import BlogChecker
private import Foundation
private import NIOConcurrencyHelpers

/// The clock of a process of clients, which jumps when the plan says so.
final class SteppingClock: Sendable {
  private let steps: [PlannedFault]
  private let began = NIOLockedValueBox<Moment?>(nil)

  init(_ faults: [PlannedFault]) {
    steps = faults.filter { $0.kind == .clock }
  }

  /// Tells when the plan began.
  func start(_ moment: Moment) {
    began.withLockedValue { $0 = moment }
  }

  /// The time in milliseconds since 1970, wrong by the last step.
  var now: Int64 {
    let real = Int64(Date().timeIntervalSince1970 * 1_000)
    guard let began = began.withLockedValue({ $0 }) else { return real }
    let elapsed = Moment.now.since(began)
    let step = steps.last { Duration.microseconds($0.at) <= elapsed }
    return real + (step?.clockStep ?? 0)
  }
}
