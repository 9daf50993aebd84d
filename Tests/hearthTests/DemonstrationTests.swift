import Foundation
import TestSupport
import Testing

extension EndToEnd {
  /// The scripts of assets/demos, each of which shows a promise of the program and fails if it is
  /// broken.
  @Suite("Demo scripts")
  struct DemonstrationTests {
    private static let folder = Sandbox.package + "/assets/demos"
    private static let names =
      ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .filter { $0.hasSuffix(".txt") }.sorted()

    @Test("Each script runs to its end", arguments: names)
    func runs(name: String) throws {
      let sandbox = try Sandbox()
      let script = try String(contentsOfFile: Self.folder + "/" + name, encoding: .utf8)
        // Files that a script writes go to the test's directory.
        .replacing(":dump-screen ", with: ":dump-screen \(sandbox.directory)/")
      let outcome = try sandbox.hearth("--script", sandbox.write(script, to: name))
      #expect(outcome.errors == "")
      #expect(outcome.status == 0)
    }

    @Test("A script shown on a terminal runs to its end, and q stops it")
    func shown() throws {
      let sandbox = try Sandbox()
      let file = Self.folder + "/comments.txt"
      let whole = try TerminalSession(["--script", file, "--show", "--pace", "0"], in: sandbox)
      #expect(try whole.waitForEnd() == 0)
      let text = String(decoding: whole.output, as: UTF8.self)
      #expect(text.contains("Good to know.") && text.contains("bob is writing"))
      let ended = try TerminalSession(["--script", file, "--show", "--pace", "60000"], in: sandbox)
      try ended.wait(for: "No posts yet")
      ended.type("q")
      #expect(try ended.waitForEnd() == 0)
      // The previous screen is restored.
      #expect(String(decoding: ended.output, as: UTF8.self).contains("\u{1B}[?1049l"))
    }
  }
}
