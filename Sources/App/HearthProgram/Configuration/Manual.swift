import ArgumentParser
import BlogTUI

/// Prints manual pages and completions, which are all made of the tables of the program.
struct Manual: ParsableCommand {
  /// What can be printed.
  enum Page: String, CaseIterable, ExpressibleByArgument {
    case hearth = "hearth.1"
    case configuration = "hearth-config.5"
    case script = "hearth-script.5"
    case keys = "hearth-keys.7"
  }

  static let configuration = CommandConfiguration(
    abstract: "Print a page of the manual, in the form that man reads."
  )

  @Argument(help: "hearth.1, hearth-config.5, hearth-script.5 or hearth-keys.7.")
  var page = Page.hearth

  func run() throws {
    switch page {
    case .hearth: Output.text(CommandManual.text)
    case .configuration: Output.text(ManualPages.configuration)
    case .script: Output.text(ManualPages.script)
    case .keys: Output.text(ManualPages.keys)
    }
  }
}
