/// The line in which a command is typed, with what fits and what was typed before.
package struct CommandLine: Equatable, Sendable {
  /// What is typed.
  package internal(set) var field: TextField
  /// What fits what was typed.
  package internal(set) var completions: [Completion] = []
  /// The completion that the line shows now.
  package private(set) var selected: Int?
  private var recalled: Int?
  private var typed: String

  /// Makes a line.
  init(_ text: String = "") {
    field = TextField(text: text)
    typed = text
  }

  /// The user typed something.
  mutating func wasTyped(_ completions: [Completion]) {
    typed = field.text
    recalled = nil
    selected = nil
    self.completions = completions
  }

  /// Shows the next completion, or the one before; past the end is what was typed.
  mutating func complete(by step: Int) {
    guard !completions.isEmpty else { return }
    let count = completions.count + 1
    // The last place stands for the text as it was typed.
    let place = ((selected ?? completions.count) + step + count) % count
    selected = place == completions.count ? nil : place
    field.setText(selected.map { completions[$0].line } ?? typed)
  }

  /// Shows the completion of that number.
  mutating func take(completion number: Int) {
    guard completions.indices.contains(number) else { return }
    selected = number
    field.setText(completions[number].line)
  }

  /// Shows an older or a newer line of those that begin like what was typed.
  mutating func recall(by step: Int, from history: [String]) {
    let fitting = history.filter { $0.hasPrefix(typed) && $0 != typed }
    let place = (recalled ?? fitting.count) + step
    selected = nil
    if place >= fitting.count {
      recalled = nil
      field.setText(typed)
    } else if place >= 0 {
      recalled = place
      field.setText(fitting[place])
    }
  }
}
