import ArgumentParser
import Foundation

/// The program beside this one that holds the swarm and the demonstration.
///
/// It is a program of its own so that nobody who only wants the blog has to build the lab.
enum LabProgram {
  private static let name = "hearth-lab"

  /// Becomes that program, with the command line of this one.
  ///
  /// - Throws: ``CommandFailure`` that says how to get the program where it is missing.
  static func takeOver() throws -> Never {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    let path = "\((own as NSString).deletingLastPathComponent)/\(name)"
    let words = try LeadingOptions.moved(Array(CommandLine.arguments.dropFirst()), of: Hearth.self)
    var arguments = ([name] + words).map { strdup($0) } + [nil]
    execv(path, &arguments)
    let reason = String(cString: strerror(errno))
    for argument in arguments { free(argument) }
    throw CommandFailure(
      .failed,
      access(path, F_OK) == 0
        ? "\(path) cannot be started: \(reason)"
        : "this command needs the program \(name), which is not beside hearth at \(path); it comes "
          + "with the package, or \"swift build --product \(name)\" builds it"
    )
  }
}

/// Puts a blog under load, with faults, in `hearth-lab`.
struct Swarm: ParsableCommand {
  static let configuration = SwarmOptions.configuration

  @OptionGroup var options: SwarmOptions

  func run() throws { try LabProgram.takeOver() }
}

/// Demonstrates the blog in several terminals, in `hearth-lab`.
struct Demo: ParsableCommand {
  static let configuration = DemoOptions.configuration

  @OptionGroup var options: DemoOptions

  func run() throws { try LabProgram.takeOver() }
}
