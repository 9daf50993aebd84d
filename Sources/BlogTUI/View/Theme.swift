import TerminalUI

/// The styles of all parts; colour only ever repeats what words or signs say.
struct Theme {
  /// The styles of the program.
  static let standard = Theme()

  let brand = Style(foreground: .yellow, attributes: .bold)
  let activeTab = Style(attributes: [.bold, .reverse])
  let tab = Style.plain
  let rule = Style(attributes: .dim)
  let border = Style(attributes: .dim)
  let selectedBorder = Style(foreground: .yellow, attributes: .bold)
  let title = Style(attributes: .bold)
  let text = Style.plain
  let author = Style(foreground: .cyan)
  let dim = Style(attributes: .dim)
  let star = Style(foreground: .yellow, attributes: .bold)
  let selected = Style(attributes: .reverse)
  let notice = Style(foreground: .yellow, attributes: .bold)
  let note = Style.plain
  let failure = Style(foreground: .red, attributes: .bold)
  let question = Style(foreground: .yellow, attributes: .bold)
  let key = Style(attributes: .bold)
  let good = Style(foreground: .green)
  let waiting = Style(foreground: .yellow)
  let bad = Style(foreground: .red, attributes: .bold)
}
