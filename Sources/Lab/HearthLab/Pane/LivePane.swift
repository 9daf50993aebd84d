package import BlogTUI
private import Foundation

/// What a live pane shows: figures as lines over time, bands, lights and numbers.
///
/// It is drawn at any size. What has no room is left out, the least telling first.
package struct LivePane {
  /// A text in a colour.
  package struct Phrase {
    let text: SafeText
    let role: Theme.Role

    package init(_ text: String, _ role: Theme.Role) {
      self.init(SafeText(untrusted: text), role)
    }

    init(_ text: SafeText, _ role: Theme.Role) {
      self.text = text
      self.role = role
    }
  }

  /// A figure over time, drawn as a line.
  package struct Track {
    let name: SafeText
    let values: [Double]
    let most: Double
    let note: SafeText
    let role: Theme.Role

    /// Makes a track.
    ///
    /// - Parameters:
    ///   - name: What is measured.
    ///   - values: The values, the latest last.
    ///   - most: The value that fills a row; nil for the largest one.
    ///   - note: What stands at its end.
    ///   - role: Its colour.
    package init(
      _ name: SafeText,
      _ values: [Double],
      most: Double? = nil,
      note: String = "",
      _ role: Theme.Role
    ) {
      self.name = name
      self.values = values
      self.most = most ?? values.max() ?? 0
      self.note = SafeText(untrusted: note)
      self.role = role
    }

    /// How high a delay is drawn, from a few milliseconds to a minute: twice as long is a step up.
    package static func height(ofMilliseconds delay: Double) -> Double { log2(1 + delay) }
  }

  /// When something lasted, drawn below the tracks.
  package struct Band {
    let name: SafeText
    /// The mark of a band without letters.
    static let block: Character = "█"

    /// A character for each value of a track, the latest last; blanks where there was nothing.
    let marks: [Character]

    package init(_ name: String, _ marks: [Character]) {
      self.name = SafeText(untrusted: name)
      self.marks = marks
    }
  }

  /// Whether something is as it should be.
  enum Light: Hashable, Sendable {
    case good
    case bad
    case waiting
  }

  /// Some lights, after the name of what they tell about.
  struct Lights {
    let name: SafeText
    let lights: [(name: String, light: Light)]
  }

  package struct Fact {
    let name: SafeText
    let value: Phrase

    package init(_ name: SafeText, _ value: String, _ role: Theme.Role = .text) {
      self.name = name
      self.value = Phrase(value, role)
    }
  }

  /// The title and what is going on.
  package var heading: [Phrase] = []
  /// What is over, the latest last; as much as there is room for.
  package var log: [Phrase] = []
  package var tracks: [Track] = []
  /// The bands, the most telling first; where there is no room for all, one stands for the rest.
  package var bands: [Band] = []
  var lights: [Lights] = []
  /// The numbers, the most telling first.
  package var facts: [Fact] = []
  /// What stands below the numbers.
  package var footer: [Phrase] = []
  /// The keys, on the last row.
  package var hint: SafeText = ""

  package init() {}

  package func screen(size: Size, glyphs: GlyphSet) -> Screen {
    var canvas = PaneCanvas(size: size, glyphs: glyphs)
    for phrase in heading.flatMap(canvas.wrapped) { canvas.line([phrase]) }
    for phrase in log.suffix(max(1, size.height - 15)) { canvas.line([phrase]) }
    var lights = lights.flatMap { canvas.rows(of: $0) }
    if canvas.room < lights.count + tracks.count + 1 {
      lights = self.lights.flatMap { canvas.rows(of: $0, areNamed: false) }
    }
    let footer = footer.flatMap { canvas.wrapped($0) }
    // Where there is room for everything, an empty row stands between the parts.
    let isAiry =
      canvas.room >= tracks.count + bands.count + lights.count + facts.count + footer.count + 4
    if size.height >= 12, let length = tracks.first?.values.count {
      let margin = margin
      if isAiry { canvas.line([]) }
      let rest = canvas.room - lights.count - footer.count - 2
      for track in tracks.prefix(max(1, rest)) { canvas.track(track, after: margin) }
      for band in joinedBands(atMost: max(1, rest - tracks.count)) {
        canvas.band(band, of: length, after: margin)
      }
    }
    if isAiry { canvas.line([]) }
    for row in lights { canvas.line(row) }
    if isAiry, !lights.isEmpty { canvas.line([]) }
    for fact in facts.prefix(max(1, canvas.room - footer.count)) {
      canvas.line([Phrase(fact.name.padded(to: 16), fact.value.role), fact.value])
    }
    if isAiry { canvas.line([]) }
    for phrase in footer { canvas.line([phrase]) }
    return canvas.finished(with: hint)
  }

  /// The columns before a track and after it.
  private var margin: (before: Int, after: Int) {
    let names = tracks.map(\.name.width) + bands.map(\.name.width)
    let note = tracks.map(\.note.width).max() ?? 0
    return (max(8, 1 + (names.max() ?? 0)), note == 0 ? 0 : note + 1)
  }

  /// The bands in that many rows; the last one stands for all that have none.
  private func joinedBands(atMost count: Int) -> [Band] {
    guard bands.count > count else { return bands }
    let rest = bands[(count - 1)...]
    let marks = rest.dropFirst().reduce(rest.first?.marks ?? []) { sum, band in
      zip(sum, band.marks).map { $0 == " " ? $1 : $0 }
    }
    return bands.prefix(count - 1) + [Band("\(rest.count) faults", marks)]
  }
}

/// A screen that is filled from the top.
private struct PaneCanvas {
  private let glyphs: GlyphSet
  private let theme = Theme.dark
  private var screen: Screen
  private var row = 0

  init(size: Size, glyphs: GlyphSet) {
    self.glyphs = glyphs
    screen = Screen(size: size)
  }

  /// The columns within the margins.
  var width: Int { max(1, screen.size.width - 2) }

  /// How many rows are left; the last one belongs to the hint.
  var room: Int { max(0, screen.size.height - 1 - row) }

  /// A phrase in as many rows as it needs.
  func wrapped(_ phrase: LivePane.Phrase) -> [LivePane.Phrase] {
    phrase.text.wrapped(width: width).map { LivePane.Phrase($0, phrase.role) }
  }

  /// Lights in as many rows as they need; without their names, they need fewer.
  func rows(of group: LivePane.Lights, areNamed: Bool = true) -> [[LivePane.Phrase]] {
    let name = LivePane.Phrase(group.name.padded(to: 8), .dim)
    let indent = LivePane.Phrase(SafeText(repeating: .space, count: name.text.width), .dim)
    var rows: [[LivePane.Phrase]] = [[name]]
    var column = name.text.width
    for (text, light) in group.lights {
      let sign: (text: SafeText, role: Theme.Role) =
        switch light {
        case .good: (glyphs.check, .good)
        case .bad: (glyphs.cross, .bad)
        case .waiting: (glyphs.pending, .dim)
        }
      let gap: SafeText = areNamed || rows[0].count == 1 ? "  " : ""
      let words = gap + sign.text + (areNamed ? SafeText(untrusted: text) : "")
      if column + words.width > width, rows[rows.count - 1].count > 1 {
        rows.append([indent])
        column = indent.text.width
      }
      rows[rows.count - 1].append(LivePane.Phrase(words, sign.role))
      column += words.width
    }
    return rows
  }

  mutating func track(_ track: LivePane.Track, after margin: (before: Int, after: Int)) {
    let steps = Array(glyphs.repertoire == .ascii ? " .:-=+*#" : " ▁▂▃▄▅▆▇█")
    let most = max(track.most, 0.001)
    let bars = track.values.suffix(room(between: margin)).map { value in
      steps[min(steps.count - 1, Int(value / most * Double(steps.count - 1)))]
    }
    let pause = margin.after == 0 ? 0 : room(between: margin) - bars.count
    line([
      LivePane.Phrase(track.name.padded(to: margin.before), track.role),
      LivePane.Phrase(SafeText(untrusted: String(bars)), track.role),
      LivePane.Phrase(SafeText(repeating: .space, count: pause + 1) + track.note, track.role),
    ])
  }

  mutating func band(
    _ band: LivePane.Band,
    of length: Int,
    after margin: (before: Int, after: Int)
  ) {
    let marks = band.marks.suffix(min(length, room(between: margin))).map { mark in
      glyphs.repertoire == .ascii && mark == LivePane.Band.block ? "#" : mark
    }
    line([
      LivePane.Phrase(band.name.padded(to: margin.before), .bad),
      LivePane.Phrase(SafeText(untrusted: String(marks)), .bad),
    ])
  }

  private func room(between margin: (before: Int, after: Int)) -> Int {
    max(0, width - margin.before - margin.after)
  }

  mutating func line(_ phrases: [LivePane.Phrase]) {
    guard room > 0 else { return }
    var column = 1
    for phrase in phrases {
      let rect = Rect(row: row, column: column, width: width + 1 - column, height: 1)
      screen.put(phrase.text, in: rect, style: theme[phrase.role], ellipsis: glyphs.ellipsis)
      column += phrase.text.width
    }
    row += 1
  }

  /// The screen, with the hint on its last row.
  mutating func finished(with hint: SafeText) -> Screen {
    let last = Rect(row: screen.size.height - 1, column: 1, width: width, height: 1)
    screen.put(hint, in: last, style: theme[.dim], ellipsis: glyphs.ellipsis)
    return screen
  }
}
