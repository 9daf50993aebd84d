/// Searches text by bytes, in time linear in text and needle.
enum TextSearch {
  /// The starts of the occurrences of a text in another, from the left and without overlap.
  ///
  /// The algorithm of Knuth, Morris and Pratt: a mismatch continues with the longest border of the
  /// matched part.
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

/// Formats numbers as JavaScript does when it joins them to strings.
enum NumberText {
  static func of(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    if number == 0 { return "0" }
    let sign = number < 0 ? "-" : ""
    let (digits, point) = shortest(number.magnitude)
    let count = digits.count
    if point > 21 || point < -5 {
      let exponent = point - 1
      let fraction = count > 1 ? "." + digits.dropFirst() : ""
      return sign + digits.prefix(1) + fraction + (exponent < 0 ? "e-" : "e+")
        + String(exponent.magnitude)
    }
    if point <= 0 { return sign + "0." + String(repeating: "0", count: -point) + digits }
    if count <= point { return sign + digits + String(repeating: "0", count: point - count) }
    return sign + digits.prefix(point) + "." + digits.dropFirst(point)
  }

  /// The shortest digits that read back the same, and the position of the decimal point.
  private static func shortest(_ number: Double) -> (digits: String, point: Int) {
    let parts = number.description.split(separator: "e")
    let mantissa = parts[0].split(separator: ".")
    let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    let whole = mantissa[0]
    let fraction = mantissa.count > 1 ? mantissa[1] : ""
    let all = whole + fraction
    let leading = all.prefix { $0 == "0" }.count
    var digits = all.dropFirst(leading)
    while digits.last == "0" { digits.removeLast() }
    return (String(digits), whole.count - leading + exponent)
  }
}
