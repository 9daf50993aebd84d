package import BlogTUI
import Foundation

/// The terminal as the program uses it: ncurses with a waker.
@MainActor
package final class TerminalScreen: TerminalDevice {
  private let terminal: NcursesTerminal
  private let waker: Waker

  /// Ends the wait for events; may be called from any thread.
  package let wake: @Sendable () -> Void

  /// Takes the terminal over.
  ///
  /// - Throws: ``CommandFailure`` when the terminal cannot be used.
  package init(_ options: TerminalOptions) throws(CommandFailure) {
    do throws(TerminalError) {
      let waker = try Waker()
      self.waker = waker
      wake = { waker.wake() }
      terminal = try NcursesTerminal.open(options)
    } catch {
      throw CommandFailure(.usage, Self.advice(error))
    }
  }

  /// Finds out whether there is a terminal at all, without touching it.
  ///
  /// - Throws: ``CommandFailure`` that says what is missing and what to do instead.
  package static func check() throws(CommandFailure) {
    let kind = ProcessInfo.processInfo.environment["TERM"] ?? ""
    let problem: TerminalError? =
      if isatty(STDIN_FILENO) == 0 {
        .inputIsNoTerminal
      } else if isatty(STDOUT_FILENO) == 0 {
        .outputIsNoTerminal
      } else if kind.isEmpty {
        .typeIsMissing
      } else if kind == "dumb" {
        .typeIsTooSimple(kind)
      } else {
        nil
      }
    if let problem { throw CommandFailure(.usage, advice(problem)) }
  }

  private static func advice(_ error: TerminalError) -> String {
    "\(error) (\"hearth list recent\" needs no screen; \"hearth --help\" lists all commands)"
  }

  package var size: Size { terminal.size }
  package var glyphs: GlyphSet { terminal.glyphs }

  package func nextEvents(timeout: Duration?) -> [TerminalEvent] {
    terminal.nextEvents(timeout: timeout, waker: waker)
  }

  package func render(_ screen: Screen) { terminal.render(screen) }
  package func redraw() { terminal.redraw() }
  package func suspend() { terminal.suspend() }
  package func bell() { terminal.bell() }
  package func notify(_ text: String) { terminal.notify(SafeText(untrusted: text)) }

  package func withSuspendedScreen<Result>(_ body: () -> Result) -> Result {
    terminal.withSuspendedScreen(body)
  }

  package func copy(_ text: String) { terminal.copy(text) }

  package func apply(_ settings: Settings) {
    terminal.apply(
      usesMouse: settings.isOn(.mouse),
      usesOnlyASCII: settings.isOn(.ascii),
      usesSynchronizedOutput: settings.isOn(.synchronized)
    )
  }

  /// Gives the terminal back as it was.
  package func close() { terminal.close() }
}
