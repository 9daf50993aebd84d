import ArgumentParser
import RealtimeCore
import SecurityRules

/// Works on rules documents, without any database.
struct Rules: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Check security rules, or ask which of them decides a request.",
    subcommands: [Check.self, Explain.self]
  )

  /// The rules of a file.
  ///
  /// - Throws: ``CommandFailure`` with the file, the line and the column.
  static func load(_ file: String) throws(CommandFailure) -> RuleSet {
    let bytes = try InputFile.bytes(file)
    do throws(RulesError) {
      return try RuleSet(bytes: bytes)
    } catch {
      let name = file == "-" ? "stdin" : file
      throw CommandFailure(.usage, "\(name):\(error.line):\(error.column): \(error.message)")
    }
  }
}

extension Rules {
  /// Compiles a rules document.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Check a rules document; a mistake is told as FILE:LINE:COLUMN: MESSAGE."
    )

    @Argument(help: "The rules; - reads stdin.", transform: DashedWord.restore)
    var file: String

    func run() async throws {
      _ = try Rules.load(file)
    }
  }
}
