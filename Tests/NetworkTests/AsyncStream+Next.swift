extension AsyncStream where Element: Sendable {
  /// The next element, which nobody else gets; the time limit of the test is the deadline.
  func next() async -> Element? {
    for await element in self { return element }
    return nil
  }
}
