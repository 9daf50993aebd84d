import ArgumentParser
import BlogModel

/// How the stars of a command or a screen come into the database.
struct StarOptions: ParsableArguments {
  /// What a person may ask for.
  enum Choice: String, CaseIterable, ExpressibleByArgument {
    case auto, transaction, increment
  }

  @Option(
    help: ArgumentHelp(
      """
      How a star is written: transaction, which needs no rules but may put whole posts; increment, one \
      update that the rules of a shared database check; auto takes increment where you are signed in.
      """,
      valueName: "strategy"
    )
  )
  var stars = Choice.auto

  /// How stars are written by somebody who has signed in, or has not.
  func method(isSignedIn: Bool) -> StarMethod {
    switch stars {
    case .auto: isSignedIn ? .increment : .transaction
    case .transaction: .transaction
    case .increment: .increment
    }
  }
}
