import Foundation

/// Enumerates children for code that expects Foundation's enumerator; what comes later is not seen.
final class ChildEnumerator<Child>: NSEnumerator {
  private var remaining: ArraySlice<Child>

  init(_ children: [Child]) {
    remaining = children[...]
  }

  override func nextObject() -> Any? { remaining.popFirst() }
}
