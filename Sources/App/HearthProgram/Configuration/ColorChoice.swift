import ArgumentParser
import BlogTUI

/// When colours are used.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
  case auto, always, never

  /// The same for the terminal.
  var mode: TerminalOptions.ColorMode {
    switch self {
    case .auto: .automatic
    case .always: .always
    case .never: .never
    }
  }
}
