/// The styles of all parts; colour only ever repeats what words or signs say.
package struct Theme: Hashable, Sendable, Codable {
  /// A part that has a style of its own.
  package enum Role: String, CaseIterable, Hashable, Sendable, Codable {
    /// The name of the program or of the page.
    case brand
    /// The list that is shown.
    case activeTab = "active-tab"
    /// The other lists.
    case tab
    /// Thin lines between parts.
    case rule
    /// The edge of what is not selected.
    case border
    /// The edge of what is selected.
    case selectedBorder = "selected-border"
    /// Titles and headings.
    case title
    /// Text.
    case text
    /// Names of people.
    case author
    /// What matters less.
    case dim
    /// Stars that were given.
    case star
    /// The selected row.
    case selected
    /// What is new.
    case notice
    /// Good to know.
    case note
    /// What went wrong.
    case failure
    /// A question.
    case question
    /// Keys in hints.
    case key
    /// Connected, done.
    case good
    /// Under way.
    case waiting
    /// Not connected, refused.
    case bad
    /// What fits what was typed.
    case match
  }

  /// The name.
  package let name: String
  private let styles: [Role: Style]

  /// Makes a theme; a part without a style is plain.
  package init(name: String, styles: [Role: Style]) {
    self.name = name
    self.styles = styles
  }

  /// The style of a part.
  package subscript(role: Role) -> Style { styles[role] ?? .plain }

  var brand: Style { self[.brand] }
  var activeTab: Style { self[.activeTab] }
  var tab: Style { self[.tab] }
  var rule: Style { self[.rule] }
  var border: Style { self[.border] }
  var selectedBorder: Style { self[.selectedBorder] }
  var title: Style { self[.title] }
  var text: Style { self[.text] }
  var author: Style { self[.author] }
  var dim: Style { self[.dim] }
  var star: Style { self[.star] }
  var selected: Style { self[.selected] }
  var notice: Style { self[.notice] }
  var note: Style { self[.note] }
  var failure: Style { self[.failure] }
  var question: Style { self[.question] }
  var key: Style { self[.key] }
  var good: Style { self[.good] }
  var waiting: Style { self[.waiting] }
  var bad: Style { self[.bad] }
  var match: Style { self[.match] }
}
