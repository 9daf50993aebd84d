import ArgumentParser
import Foundation

/// Measures the engines and the server, and prints each figure beside a yardstick measured within
/// the same minutes.
@main
struct Benchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "Benchmarks",
    abstract: "Measure what the design promises, as ratios to yardsticks of the same run.",
    discussion: """
      Absolute times say little on a machine that does other things too: read the ratios. Build for \
      release, the server first:

        swift build -c release --product hearth && swift run -c release Benchmarks

      Redis, where it is installed, writes to the same disk in turn with the server; so do \
      PostgreSQL and pgbench for the names that begin with "postgres/". As root, "chrt -f 20" \
      before the command keeps other programs out of the way.
      """
  )

  @Option(help: .init("Run those whose names contain this text; repeatable.", valueName: "text"))
  var filter: [String] = []

  @Option(help: .init("Passes of each, of which the median is printed.", valueName: "n"))
  var passes = 5

  @Flag(help: "Print the names only.")
  var list = false

  @Option(help: .init("The server under test; by default the one beside this.", valueName: "path"))
  var hearth: String?

  @Option(
    help: .init(
      "A folder on the disk that is to be measured; by default the one of this program.",
      valueName: "path"
    )
  )
  var folder: String?

  @Option(help: .init("Rules of the blog; by default those of the sources.", valueName: "file"))
  var rules = "assets/rules/blog-transactions.json"

  @Option(
    help: .init(
      "Do the work of an area once, for callgrind to count its instructions.",
      valueName: "area"
    )
  )
  var instructions: String?

  func validate() throws {
    guard passes > 0 else { throw ValidationError("--passes must be at least 1") }
  }

  func run() throws {
    if let instructions { return try perform(instructions) }
    let environment = environment
    let screens = TerminalBenchmarks(environment: environment).all
    let all =
      screens + ClientBenchmarks.all + PutBenchmarks(environment: environment).all
      + FanOutBenchmarks(environment: environment).all
      + HubBenchmarks(environment: environment).all + StoreBenchmarks(environment: environment).all
      + ConnectionBenchmarks(environment: environment).all
      + PostgresBenchmarks(environment: environment).all
      + ClusterBenchmarks(environment: environment).all
    let chosen =
      filter.isEmpty ? all : all.filter { one in filter.contains { one.name.contains($0) } }
    guard !chosen.isEmpty else {
      throw ValidationError("no benchmark's name contains \(filter.joined(separator: " or "))")
    }
    if list {
      for benchmark in chosen { print(benchmark.name) }
      return
    }
    show(Report.header)
    for benchmark in chosen {
      do {
        show(Report.lines(try Measurement(of: benchmark, passes: passes)))
      } catch let missing as MissingTool {
        show("\(benchmark.name) is left out: \(missing)")
      }
    }
  }

  private var environment: BenchmarkEnvironment {
    let program = Bundle.main.executablePath ?? CommandLine.arguments[0]
    let ownFolder = URL(fileURLWithPath: program).deletingLastPathComponent().path
    return BenchmarkEnvironment(
      hearth: absolute(hearth ?? "\(ownFolder)/hearth"),
      folder: absolute(folder ?? ownFolder),
      rules: absolute(rules)
    )
  }

  private func absolute(_ path: String) -> String { URL(fileURLWithPath: path).path }

  private func perform(_ name: String) throws {
    guard let area = try InstructionArea(name, in: environment) else {
      let names = InstructionArea.names.joined(separator: ", ")
      throw ValidationError("there is no area \(name); there are \(names)")
    }
    try area.perform()
  }

  /// Prints immediately, even into a pipe: a whole run takes some minutes.
  private func show(_ text: String) {
    FileHandle.standardOutput.write(Data("\(text)\n".utf8))
  }
}
