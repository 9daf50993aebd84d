extension AsyncStream where Element: Sendable {
  /// The next element, which no other consumer receives; the time limit of the test is the
  /// deadline.
  func next() async -> Element? {
    for await element in self { return element }
    return nil
  }
}
