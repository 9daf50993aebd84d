/// One way to go on with a command that is being typed.
package struct Completion: Hashable, Sendable {
  /// The whole line with what is completed.
  package let line: String
  /// What is shown for it.
  package let title: SafeText
  /// What it does.
  package let detail: SafeText

  init(line: String, title: String, detail: SafeText) {
    self.line = line
    self.title = SafeText(untrusted: title, limit: 80)
    self.detail = detail
  }
}
