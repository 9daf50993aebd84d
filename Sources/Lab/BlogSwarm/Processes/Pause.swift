package import BlogChecker
private import Dispatch

/// Waits, as a part of what is done.
package enum Pause {
  /// Waits until a moment; not at all when it is past.
  package static func until(_ moment: Moment) async {
    await lasting(moment.since(.now))
  }

  /// Waits for so long.
  package static func lasting(_ duration: Duration) async {
    guard duration > .zero else { return }
    await withCheckedContinuation { continuation in
      DispatchQueue.global().asyncAfter(deadline: .now() + duration / .seconds(1)) {
        continuation.resume()
      }
    }
  }
}
