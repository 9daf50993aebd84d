import ArgumentParser
import Testing

@testable import HearthProgram

@Suite("Arguments that start with a dash")
struct DashedWordTests {
  @Test("The value of an option may start with a dash")
  func value() throws {
    let command: ResetPasswordCommand = try parsed(
      ["reset-password", "--code", "-Kx_1", "--email", "-a@b", "--password-stdin"]
    )
    #expect(command.code == "-Kx_1")
    #expect(command.email == "-a@b")
    #expect(command.passwordStdin)
  }

  @Test("The default command also accepts such values")
  func defaultCommand() throws {
    let command: Open = try parsed(["--data-dir", "-d", "--user", "-u"])
    #expect(command.options.dataDir == "-d")
    #expect(command.options.user == "-u")
  }

  @Test("A post ID may start with a dash, even after a flag")
  func argument() throws {
    let command: WriteComment = try parsed(["comment", "--json", "-Kpost", "-", "--answer", "-Kto"])
    #expect(command.post.id == "-Kpost")
    #expect(command.text == "-")
    #expect(command.answer == "-Kto")
    #expect(command.options.json)
  }

  @Test("Arguments after two dashes stay unchanged, and -h requests help")
  func unchanged() {
    let words = ["show", "-h", "--", "-Kpost"]
    #expect(DashedWord.protect(words, of: Hearth.self) == words)
  }

  private func parsed<Command>(_ words: [String]) throws -> Command {
    let command = try Hearth.parseAsRoot(DashedWord.protect(words, of: Hearth.self))
    return try #require(command as? Command)
  }
}
