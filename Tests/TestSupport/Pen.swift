/// The colours and attributes with which a terminal draws text.
package struct Pen: Equatable, Sendable {
  private var attributes: [Int] = []
  private var foreground = ""
  private var background = ""

  /// Creates a pen without colours and attributes.
  package init() {}

  /// The pen of erased cells, which keeps only the background.
  var erased: Pen {
    var pen = Pen()
    pen.background = background
    return pen
  }

  /// Whether one sees more of an empty cell than its background: it is underlined or reversed.
  var isVisible: Bool { attributes.contains(4) || attributes.contains(7) }

  /// Applies the parameters of a control sequence.
  mutating func apply(_ text: String) {
    var numbers = text.split(separator: ";", omittingEmptySubsequences: false)[...]
    while let part = numbers.popFirst() {
      if part.contains(":") {
        if part.hasPrefix("38") { foreground = String(part) } else { background = String(part) }
        continue
      }
      switch Int(part) ?? 0 {
      case 0: self = Pen()
      case let number where (1...9).contains(number): set(number)
      case 21, 22: attributes.removeAll { $0 == 1 || $0 == 2 }
      case let number where (23...29).contains(number): attributes.removeAll { $0 == number - 20 }
      case 39: foreground = ""
      case 49: background = ""
      case 38: foreground = "38;" + Self.color(&numbers)
      case 48: background = "48;" + Self.color(&numbers)
      case let number where (30...37).contains(number) || (90...97).contains(number):
        foreground = "\(number)"
      case let number: background = "\(number)"
      }
    }
  }

  private mutating func set(_ attribute: Int) {
    guard !attributes.contains(attribute) else { return }
    attributes = (attributes + [attribute]).sorted()
  }

  private static func color(_ numbers: inout ArraySlice<Substring>) -> String {
    let count = numbers.first == "2" ? 4 : 2
    defer { numbers = numbers.dropFirst(count) }
    return numbers.prefix(count).joined(separator: ";")
  }
}

extension Pen: CustomStringConvertible {
  /// The parameters that produce the pen; a dash for none.
  package var description: String {
    let parts = attributes.map(String.init) + [foreground, background].filter { !$0.isEmpty }
    return parts.isEmpty ? "-" : parts.joined(separator: ";")
  }
}
