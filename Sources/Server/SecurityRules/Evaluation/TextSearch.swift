/// Finds text in text by bytes, in time linear in both.
enum TextSearch {
  /// Where a text occurs in another, from the left, without overlap; a start of each occurrence.
  ///
  /// Knuth, Morris and Pratt: after a mismatch the longest border of what matched is tried next.
  static func occurrences(
    of needle: UnsafeBufferPointer<UInt8>,
    in text: UnsafeBufferPointer<UInt8>,
    limit: Int = .max
  ) -> [Int] {
    guard !needle.isEmpty, needle.count <= text.count else { return [] }
    let borders = borders(of: needle)
    var starts: [Int] = []
    var matched = 0
    for index in text.indices {
      let byte = text[index]
      while matched > 0, needle[matched] != byte { matched = borders[matched - 1] }
      if needle[matched] == byte { matched += 1 }
      guard matched == needle.count else { continue }
      starts.append(index + 1 - needle.count)
      if starts.count >= limit { return starts }
      matched = 0
    }
    return starts
  }

  /// The length of the longest proper border of each prefix.
  private static func borders(of needle: UnsafeBufferPointer<UInt8>) -> [Int] {
    var borders = [Int](repeating: 0, count: needle.count)
    var length = 0
    for index in 1..<max(needle.count, 1) {
      while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
      if needle[index] == needle[length] { length += 1 }
      borders[index] = length
    }
    return borders
  }
}
