/// Elements at a place of their own, which can be lent to whoever does not count references.
///
// Safety: the elements are written once, before anybody sees them, and freed with the last reference;
// who is lent them holds one until then.
final class Lent<Element>: @unchecked Sendable {
  let elements: UnsafeBufferPointer<Element>

  init(_ elements: some Collection<Element>) {
    let place = UnsafeMutableBufferPointer<Element>.allocate(capacity: elements.count)
    _ = place.initialize(from: elements)
    self.elements = UnsafeBufferPointer(place)
  }

  deinit {
    let place = UnsafeMutableBufferPointer(mutating: elements)
    place.deinitialize()
    place.deallocate()
  }
}
