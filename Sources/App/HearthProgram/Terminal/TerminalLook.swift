package import BlogTUI
import DurableFiles
import Foundation
import NIOConcurrencyHelpers
import RealtimeCore

extension NcursesTerminal {
  /// Takes over the terminal of standard input and output.
  package static func opened(_ options: TerminalOptions) throws(CommandFailure) -> NcursesTerminal {
    do throws(TerminalError) {
      return try open(options)
    } catch {
      throw CommandFailure(.usage, advice(error))
    }
  }

  /// Checks whether there is a usable terminal, without changing it.
  ///
  /// - Throws: ``CommandFailure`` with what is missing and what to do instead.
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
}

/// What is known about the terminal that decides which theme fits it.
final class TerminalLook: Sendable {
  private let colorCount: Int
  /// A terminal that takes at least this long to answer is far away.
  private static let farAway = Duration.milliseconds(300)

  private let background = NIOLockedValueBox<Bool?>(nil)
  private let isFarAway = NIOLockedValueBox<Bool?>(nil)

  /// Whether the background is light; nil until the terminal has said so.
  var isLight: Bool? {
    get { background.withLockedValue(\.self) }
    set { background.withLockedValue { $0 = newValue } }
  }

  init(colorCount: Int) {
    self.colorCount = colorCount
  }

  /// Takes note of the time that the terminal took to answer; returns whether it is far away.
  func note(_ delay: Duration) -> Bool {
    let isFarAway = delay > Self.farAway
    self.isFarAway.withLockedValue { $0 = isFarAway }
    return isFarAway
  }

  /// The configuration with what is known.
  func applied(to configuration: Configuration) -> Configuration {
    var configuration = configuration
    configuration.colorCount = colorCount
    configuration.isLight = isLight ?? configuration.isLight
    configuration.isFarAway = isFarAway.withLockedValue(\.self)
    return configuration
  }
}

/// The properties that terminals have reported, stored so that none is queried twice.
struct TerminalMemory {
  /// How many kinds of terminals are stored; when they are exceeded, the file starts over.
  private static let limit = 100

  private let path: String

  init(directory: String) { path = "\(directory)/terminals.json" }

  /// Whether the terminal of this process joins emoji; nil if it has never been queried.
  var joinsEmoji: Bool? {
    guard case .bool(let joins)? = read()[TerminalAbilities.identity()] else { return nil }
    return joins
  }

  /// Stores an answer; if that fails, the terminal is queried again next time.
  func keep(joinsEmoji: Bool) {
    var known = read()
    if known.count >= Self.limit { known = [:] }
    known[TerminalAbilities.identity()] = .bool(joinsEmoji)
    let members = known.sorted { $0.key < $1.key }.map { JSONMember($0.key, $0.value) }
    let text = JSONValue.object(members).text + "\n"
    try? PrivateFile.replace(path, with: Array(text.utf8), isDurable: false)
  }

  private func read() -> [String: JSONValue] {
    guard let bytes = try? PrivateFile.read(path),
      case .object(let members)? = try? JSONParser.parse(bytes)
    else { return [:] }
    return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
  }
}
