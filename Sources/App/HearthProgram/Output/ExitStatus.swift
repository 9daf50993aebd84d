package import ArgumentParser

/// What the process says with its exit status; README and `hearth --help` document the numbers.
package enum ExitStatus: Int32 {
  /// Everything was done.
  case ok = 0
  /// It was tried and did not work.
  case failed = 1
  /// The command line, the input or the terminal is not usable.
  case usage = 2
  /// What was named does not exist.
  case notFound = 3
  /// It is not allowed.
  case notPermitted = 4
  /// The database cannot be reached, or did not answer in time.
  case offline = 5
  /// Others changed the same thing too often meanwhile.
  case conflict = 6
  /// A mistake of the program.
  case internalError = 70

  /// The status as ArgumentParser throws it.
  package var exitCode: ExitCode { ExitCode(rawValue) }
}

/// A failure that ends a command: a message for stderr and an exit status.
package struct CommandFailure: Error, CustomStringConvertible {
  package let status: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}
