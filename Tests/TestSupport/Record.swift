private import Synchronization

/// What callbacks have reported, and a way to wait for it.
package final class Record<Element: Sendable>: Sendable {
  private struct Waiter {
    let isMet: @Sendable ([Element]) -> Bool
    let continuation: CheckedContinuation<[Element], Never>
  }

  private struct State {
    var elements: [Element] = []
    var waiters: [Waiter] = []
  }

  private let state = Mutex(State())

  /// The recorded elements, in order.
  package var elements: [Element] { state.withLock { $0.elements } }

  /// Creates an empty record.
  package init() {}

  /// Records an element.
  package func append(_ element: Element) {
    let (elements, met) = state.withLock { state in
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
      let elements = state.withLock { state -> [Element]? in
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
