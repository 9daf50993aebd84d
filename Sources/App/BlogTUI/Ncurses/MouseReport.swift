/// A report of the mouse in decimal numbers, of which the start has come: `0;301;5M`.
///
/// Terminals that terminfo describes with the old reports cannot tell of columns beyond 223.
struct MouseReport {
  /// The number of characters that a report has at most.
  private static let limit = 24

  private var text = ""

  /// What became of a report after one more character.
  enum Outcome: Hashable {
    /// There is more to come.
    case incomplete
    /// It is complete; nil if it is of no use.
    case complete(KeyEvent?)
  }

  /// Adds one character.
  mutating func append(_ scalar: Unicode.Scalar) -> Outcome {
    switch scalar {
    case "M", "m": return .complete(event(isPress: scalar == "M"))
    case "0"..."9", ";":
      text.unicodeScalars.append(scalar)
      return text.utf8.count < Self.limit ? .incomplete : .complete(nil)
    default: return .complete(nil)
    }
  }

  private func event(isPress: Bool) -> KeyEvent? {
    let numbers = text.split(separator: ";").map { Int($0) ?? -1 }
    guard numbers.count == 3, numbers[1] > 0, numbers[2] > 0 else { return nil }
    let kind: MouseEvent.Kind
    switch numbers[0] {
    case 0: kind = isPress ? .press : .release
    case 64: kind = .wheelUp
    case 65: kind = .wheelDown
    default: return nil
    }
    let position = Position(row: numbers[2] - 1, column: numbers[1] - 1)
    return .mouse(MouseEvent(kind: kind, position: position))
  }
}
