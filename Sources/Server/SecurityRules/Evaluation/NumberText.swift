/// Numbers as text, when they are joined to strings: the way JavaScript writes them.
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

  /// The shortest digits that read back the same, and where the point stands among them.
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
