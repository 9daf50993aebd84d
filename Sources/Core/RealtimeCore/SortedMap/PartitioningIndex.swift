extension RandomAccessCollection {
  /// The first index whose element satisfies the condition, which must hold for all later ones too.
  ///
  /// It is public for the same reason as ``SortedMap``.
  ///
  /// - Complexity: O(log n)
  @inlinable public func partitioningIndex(where isBehind: (Element) -> Bool) -> Self.Index {
    var low = startIndex
    var length = count
    while length > 0 {
      let half = length / 2
      let middle = index(low, offsetBy: half)
      if isBehind(self[middle]) {
        length = half
      } else {
        low = index(after: middle)
        length -= half + 1
      }
    }
    return low
  }
}
