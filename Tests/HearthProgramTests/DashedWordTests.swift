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

@Suite("Options before a command")
struct LeadingOptionsTests {
  private func moved(_ words: String...) throws -> [String] {
    try LeadingOptions.moved(words, of: Hearth.self)
  }

  @Test("They move behind the command, also behind one within another")
  func behind() throws {
    #expect(try moved("--user", "amy", "list", "top") == ["list", "--user", "amy", "top"])
    let inner = try moved("--user", "amy", "--json", "drafts", "delete", "x")
    #expect(inner == ["drafts", "delete", "--user", "amy", "--json", "x"])
    #expect(try moved("--store=S", "users") == ["users", "--store=S"])
  }

  @Test("Those that only the named command has move, too")
  func own() throws {
    #expect(try moved("--json", "--unread", "notices") == ["notices", "--json", "--unread"])
  }

  @Test("One that the command lacks is refused with the commands that have it")
  func strange() {
    #expect(throws: CommandFailure.self) { try moved("--theme", "dusk", "list") }
  }

  @Test("Unknown options and requests for help stay where they are")
  func left() throws {
    for words in [["--bogus", "list"], ["--help", "list"], ["--user", "list"]] {
      #expect(try LeadingOptions.moved(words, of: Hearth.self) == words)
    }
  }
}
