import ArgumentParser
import BlogModel
import RealtimeDatabase

/// How the stars of a command or a screen come into the database.
struct StarOptions: ParsableArguments {
  /// What a person may ask for.
  enum Choice: String, CaseIterable, ExpressibleByArgument {
    case auto, transaction, increment
  }

  @Option(
    help: ArgumentHelp(
      """
      How a star is written: increment, one update that the rules of the server check; transaction, for \
      servers without such rules; auto takes increment at a local socket and where you are signed in.
      """,
      valueName: "strategy"
    )
  )
  var stars = Choice.auto

  /// How stars are written in a database.
  ///
  /// At a local socket, writing them by increments takes a user for the rules to be about.
  ///
  /// - Parameters:
  ///   - url: The database.
  ///   - author: Who uses it.
  ///   - options: How it is connected to; at a local socket it will say who that is.
  /// - Returns: The method.
  func method(at url: String, for author: Author, _ options: inout DatabaseOptions) -> StarMethod {
    let isLocal = url.hasPrefix("unix:")
    let method: StarMethod =
      switch stars {
      case .auto: isLocal || options.tokenProvider != nil ? .increment : .transaction
      case .transaction: .transaction
      case .increment: .increment
      }
    guard isLocal, method == .increment else { return method }
    options.localUser = author.uid
    return .localIncrement
  }
}
