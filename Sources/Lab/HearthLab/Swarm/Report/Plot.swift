private import Foundation

/// Draws charts as SVG: scales, axes, and marks with names beside them.
///
/// Colours and fonts are classes, which the surrounding page or picture defines.
struct Plot {
  /// How values map to heights.
  enum Scale {
    /// From 0 upwards, in equal steps.
    case linear(top: Double)
    /// Each step is ten times the one below it.
    case logarithmic(bottom: Double, top: Double)
  }

  /// The markup drawn so far.
  private(set) var svg = ""
  private let left: Double
  private let width: Double
  private let top: Double
  private let height: Double
  private let seconds: Double
  private let scale: Scale

  init(
    in frame: (left: Double, top: Double, width: Double, height: Double),
    upTo seconds: Double,
    scale: Scale
  ) {
    (left, top, width, height) = frame
    self.seconds = max(seconds, 0.001)
    self.scale = scale
  }

  /// The horizontal position of a time.
  func x(_ time: Double) -> Double { left + width * min(max(time / seconds, 0), 1) }

  /// The vertical position of a value.
  func y(_ value: Double) -> Double {
    let share: Double =
      switch scale {
      case .linear(let most): value / max(most, 0.001)
      case .logarithmic(let least, let most):
        log(max(value, least) / least) / log(most / least)
      }
    return top + height * (1 - min(max(share, 0), 1))
  }

  // MARK: Parts

  mutating func title(_ text: String, remark: String) {
    put(
      "<text class=\"title\" x=\"\(f(left))\" y=\"\(f(top - 14))\">\(Plot.escaped(text))"
        + "<tspan class=\"remark\" dx=\"8\">\(Plot.escaped(remark))</tspan></text>"
    )
  }

  /// Adds horizontal lines, labelled with their values.
  mutating func levels(_ unit: (Double) -> String) {
    for value in levelValues {
      let height = y(value)
      line("grid", from: (left, height), to: (left + width, height))
      label(unit(value), at: (left - 8, height + 4), anchor: "end", class: "axis")
    }
  }

  private var levelValues: [Double] {
    switch scale {
    case .linear(let most): return Self.steps(to: most)
    case .logarithmic(let least, let most):
      var values: [Double] = []
      var value = least
      while value <= most * 1.001 {
        values.append(value)
        value *= 10
      }
      return values
    }
  }

  /// Equal round steps from 0, about as many as requested.
  static func steps(to most: Double, about count: Double = 4) -> [Double] {
    guard most > 0 else { return [0] }
    let raw = most / count
    let power = pow(10, floor(log10(raw)))
    let step = power * ([1, 2, 2.5, 5, 10].first { $0 * power >= raw } ?? 10)
    return stride(from: 0, through: most * 1.0001, by: step).map(\.self)
  }

  /// The next round number at or above a value, for the top of a chart.
  static func roundedUp(_ value: Double) -> Double {
    guard value > 0 else { return 1 }
    let power = pow(10, floor(log10(value)))
    return power * ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * power >= value } ?? 10)
  }

  mutating func times() {
    line("axisline", from: (left, top + height), to: (left + width, top + height))
    for time in Self.steps(to: seconds, about: 8) {
      line("axisline", from: (x(time), top + height), to: (x(time), top + height + 4))
      label(Self.time(time), at: (x(time), top + height + 18), anchor: "middle", class: "axis")
    }
  }

  /// A time in the shortest form that an axis needs.
  static func time(_ seconds: Double) -> String {
    if seconds < 120 { return "\(number(seconds)) s" }
    return seconds < 7_200
      ? "\(number(seconds / 60)) min" : "\(number(seconds / 3_600)) h"
  }

  /// Adds an interval of time across the full height of the chart.
  mutating func band(_ name: String, from start: Double, to end: Double) {
    let from = x(start)
    put(
      "<rect class=\"band\" x=\"\(f(from))\" y=\"\(f(top))\" "
        + "width=\"\(f(max(x(end) - from, 1.5)))\" height=\"\(f(height))\">"
        + "<title>\(Plot.escaped(name))</title></rect>"
    )
  }

  /// Adds a moment as a line across the full height of the chart.
  mutating func moment(_ time: Double) {
    line("moment", from: (x(time), top), to: (x(time), top + height))
  }

  /// Adds a line through points; a missing value leaves a gap.
  mutating func curve(_ points: [(time: Double, value: Double?)], class style: String) {
    var path = ""
    var isDown = false
    for point in points {
      guard let value = point.value else {
        isDown = false
        continue
      }
      path += "\(isDown ? "L" : "M")\(f(x(point.time))) \(f(y(value)))"
      isDown = true
    }
    if !path.isEmpty { put("<path class=\"\(style)\" d=\"\(path)\"/>") }
  }

  /// Adds a filled area of steps, from 0 up to each value.
  mutating func area(_ steps: [(start: Double, end: Double, value: Double)], class style: String) {
    guard let first = steps.first, let last = steps.last else { return }
    var path = "M\(f(x(first.start))) \(f(y(0)))"
    for step in steps {
      path += "L\(f(x(step.start))) \(f(y(step.value)))L\(f(x(step.end))) \(f(y(step.value)))"
    }
    put("<path class=\"\(style)\" d=\"\(path)L\(f(x(last.end))) \(f(y(0)))Z\"/>")
  }

  /// Adds dots, all in one path, since there may be thousands.
  mutating func dots(_ points: [(time: Double, value: Double)], class style: String) {
    guard !points.isEmpty else { return }
    let path = points.map { "M\(f(x($0.time))) \(f(y($0.value)))h0" }.joined()
    put("<path class=\"\(style)\" d=\"\(path)\"/>")
  }

  /// Adds a name beside the last point of a series.
  mutating func name(_ text: String, at point: (time: Double, value: Double), class style: String) {
    label(text, at: (left + width + 8, y(point.value) + 4), anchor: "start", class: style)
  }

  // MARK: Pieces

  mutating func label(
    _ text: String,
    at place: (x: Double, y: Double),
    anchor: String,
    class style: String
  ) {
    put(
      "<text class=\"\(style)\" x=\"\(f(place.x))\" y=\"\(f(place.y))\" "
        + "text-anchor=\"\(anchor)\">\(Plot.escaped(text))</text>"
    )
  }

  private mutating func line(
    _ style: String,
    from start: (Double, Double),
    to end: (Double, Double)
  ) {
    put("<path class=\"\(style)\" d=\"M\(f(start.0)) \(f(start.1))L\(f(end.0)) \(f(end.1))\"/>")
  }

  /// Appends markup that needs no escaping.
  mutating func put(_ markup: String) {
    svg += markup + "\n"
  }

  private func f(_ value: Double) -> String { Plot.number(value) }

  /// A number with at most one digit after the decimal point.
  static func number(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  /// A text escaped for the content of an element or an attribute.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "\n", "\t": escaped += " "
      case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
        escaped += "\u{FFFD}"
      case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{200E}", "\u{200F}", "\u{FFFE}",
        "\u{FFFF}":
        escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
