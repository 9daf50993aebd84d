/// Comparing secrets without a hint of how much of them was right.
package enum ConstantTime {
  /// Whether two sequences of bytes are equal; the time depends on their lengths only.
  ///
  /// - Complexity: O(bytes)
  package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    guard left.count == right.count else { return false }
    var difference: UInt8 = 0
    for index in left.indices { difference |= left[index] ^ right[index] }
    return difference == 0
  }
}
