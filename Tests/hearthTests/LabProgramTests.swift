import Foundation
import Testing

extension EndToEnd {
  /// `hearth swarm`, `hearth demo` and `hearth tutor`, which `hearth-lab` implements.
  @Suite("Lab program")
  struct LabProgramTests {
    @Test(
      "Without the program, its commands say how to build it",
      arguments: ["swarm", "demo", "tutor"]
    )
    func missing(command: String) throws {
      let sandbox = try Sandbox()
      let alone = sandbox.directory + "/hearth"
      try FileManager.default.copyItem(atPath: Sandbox.program, toPath: alone)
      let outcome = try sandbox.run([command], of: alone)
      #expect(outcome.status == 1)
      #expect(outcome.errors.contains("swift build --product hearth-lab"))
      #expect(outcome.errors.contains(sandbox.directory))
      // The command's options are documented even so.
      let help = try sandbox.run([command, "--help"], of: alone)
      #expect(help.status == 0)
      #expect(help.output.contains("USAGE: hearth \(command)"))
    }

    @Test("Options are parsed as in any other command")
    func options() throws {
      let sandbox = try Sandbox()
      #expect(try sandbox.hearth("swarm", "--users", "many").status == 2)
      #expect(
        try sandbox.hearth("--users", "0", "swarm").errors.contains("--users takes 1 to 5000")
      )
      #expect(try sandbox.hearth("demo", "--panes", "1").errors.contains("--panes is a number"))
    }

    @Test("The help names every fault")
    func faults() throws {
      let sandbox = try Sandbox()
      let help = try sandbox.hearth("swarm", "--help").output.split(whereSeparator: \.isWhitespace)
      let refusal = try sandbox.hearth("swarm", "--faults", "x").errors
      let list = try #require(refusal.split(separator: "there are ").last)
      let names = list.split(whereSeparator: { " ,\n".contains($0) }).filter { $0 != "and" }
      #expect(names.count > 10)
      for name in names { #expect(help.contains { $0.trimmingPrefix(name).count < 2 }, "\(name)") }
    }
  }
}
