private import Foundation

/// What callbacks have reported, and a way to wait for it.
package final class Record<Element: Sendable>: @unchecked Sendable {
  // Safety: the state is used under `lock` only, which, unlike `Mutex`, the thread sanitizer knows.

  private struct Waiter {
    let isMet: @Sendable ([Element]) -> Bool
    let continuation: CheckedContinuation<[Element], Never>
  }

  private struct State {
    var elements: [Element] = []
    var waiters: [Waiter] = []
  }

  private let lock = NSLock()
  private var state = State()

  /// The recorded elements, in order.
  package var elements: [Element] { lock.withLock { state.elements } }

  /// Creates an empty record.
  package init() {}

  /// Records an element.
  package func append(_ element: Element) {
    let (elements, met) = lock.withLock {
      state.elements.append(element)
      let elements = state.elements
      let met = state.waiters.filter { $0.isMet(elements) }
      state.waiters.removeAll { $0.isMet(elements) }
      return (elements, met)
    }
    for waiter in met { waiter.continuation.resume(returning: elements) }
  }

  /// Waits until the recorded elements meet a condition; the time limit of the test is the
  /// deadline.
  @discardableResult
  package func wait(until isMet: @escaping @Sendable ([Element]) -> Bool) async -> [Element] {
    await withCheckedContinuation { continuation in
      let elements = lock.withLock { () -> [Element]? in
        if isMet(state.elements) { return state.elements }
        state.waiters.append(Waiter(isMet: isMet, continuation: continuation))
        return nil
      }
      if let elements { continuation.resume(returning: elements) }
    }
  }

  /// Waits until at least this many elements were recorded.
  @discardableResult
  package func wait(for count: Int) async -> [Element] {
    await wait { $0.count >= count }
  }
}
