package import BlogTUI
import Dispatch
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
      throw CommandFailure(.usage, description: Self.advice(error))
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
    if let problem { throw CommandFailure(.usage, description: advice(problem)) }
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
      usesSynchronizedOutput: settings.isOn(.synchronized),
      usesLinks: settings.isOn(.hyperlinks)
    )
  }

  /// Has somebody hear what the terminal answers about emoji.
  package func whenMeasured(_ hear: @escaping (Bool) -> Void) { terminal.didMeasure = hear }

  /// Gives the terminal back as it was.
  package func close() { terminal.close() }
}

/// The pages of code that the system has mapped for this process.
///
/// A program that has just started has touched the code of its whole start (options, configuration,
/// the dynamic linker's work, the tables of Unicode), and the system maps the neighbours of every
/// page as well. Most of it is never run again, and counts as resident until the program ends.
enum ProgramPages {
  /// Gives the pages of code back once the start is over.
  ///
  /// Code is never changed, so that nothing is lost: what runs again is mapped again from the
  /// system's cache of files, without reading the disk.
  ///
  /// - Parameter delay: How many seconds the start may take.
  static func release(after delay: Double) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) {
      guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
        return
      }
      for range in code(in: maps) {
        madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      }
    }
  }

  /// The addresses of code that comes from files, by the system's list of mappings.
  ///
  /// Only what may be run and not written: what is to be changed for this process lies elsewhere.
  static func code(in maps: String) -> [Range<UInt>] {
    maps.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[1] == "r-xp", words[5].contains("/") else { return nil }
      let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
      return bounds[0]..<bounds[1]
    }
  }
}
