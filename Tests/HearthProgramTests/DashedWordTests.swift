import ArgumentParser
import Testing

@testable import HearthProgram

@Suite("Words that start with a dash")
struct DashedWordTests {
  @Test("The value of an option may start with a dash, as a random code does now and then")
  func value() throws {
    let command: ResetPasswordCommand = try parsed(
      ["reset-password", "--code", "-Kx_1", "--email", "-a@b", "--password-stdin"]
    )
    #expect(command.code == "-Kx_1")
    #expect(command.email == "-a@b")
    #expect(command.passwordStdin)
  }

  @Test("The command that opens the blog takes such values too")
  func defaultCommand() throws {
    let command: Open = try parsed(["--data-dir", "-d", "--user", "-u"])
    #expect(command.options.dataDir == "-d")
    #expect(command.options.user == "-u")
  }

  @Test("The name of a post may start with a dash, also after a flag")
  func argument() throws {
    let command: WriteComment = try parsed(["comment", "--json", "-Kpost", "-", "--answer", "-Kto"])
    #expect(command.id == "-Kpost")
    #expect(command.text == "-")
    #expect(command.answer == "-Kto")
    #expect(command.options.json)
  }

  @Test("What comes after two dashes stays as it is, and -h is a request for help")
  func unchanged() {
    let words = ["show", "-h", "--", "-Kpost"]
    #expect(DashedWord.protect(words, of: Hearth.self) == words)
  }

  private func parsed<Command>(_ words: [String]) throws -> Command {
    let command = try Hearth.parseAsRoot(DashedWord.protect(words, of: Hearth.self))
    return try #require(command as? Command)
  }
}
