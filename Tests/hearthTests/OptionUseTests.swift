import ArgumentParser
import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import TestSupport
import Testing

@testable import HearthProgram

/// What the program prints for these words and `--help`, without a process.
func programHelp(_ words: [String]) -> String {
  do {
    var request = try Hearth.parseAsRoot(words + ["--help"])
    try request.run()
    return ""
  } catch {
    return Hearth.fullMessage(for: error)
  }
}

/// Every option that a command accepts is used or refused.
///
/// The commands and their options are those that the command line declares. A new command needs
/// words to run it with, and a new common option a value that shows whether it is used.
@Suite("Options of commands", .timeLimit(.minutes(5)))
struct OptionUseTests {
  /// A command that takes common options, with the names of all its options.
  private struct Command {
    let path: [String]
    let options: Set<String>

    var name: String { path.joined(separator: " ") }
  }

  /// How an option shows that it is used: with these words a command fails, or prints something else.
  private enum Proof {
    case words([String])
    /// Other tests show the use; it cannot be made visible by one value.
    case elsewhere
  }

  private static func proofs(in sandbox: Sandbox) -> [String: Proof] {
    [
      "store": .words(["--store", "postgres://127.0.0.1:1/nowhere"]),
      "data-dir": .words(["--data-dir", "/dev/null/data"]),
      "socket": .words(["--socket", sandbox.directory + "/file"]),
      "ephemeral": .words(["--ephemeral"]),
      "user": .words(["--user", " "]),
      "database": .words(["--database", "nonsense://x"]),
      "profile": .words(["--profile", "nonsense"]),
      "account": .words(["--database", "http://127.0.0.1:1?ns=x", "--account", "nobody"]),
      "ns": .words(["--ns", "no such"]),
      "timeout": .words(["--timeout", "0"]),
      "api-key": .elsewhere, "ca-file": .elsewhere, "json": .elsewhere,
    ]
  }

  /// The words that make each command succeed, or fail for a reason that has nothing to do with its
  /// options, on a local blog with one post.
  private static func words(in sandbox: Sandbox, post: String) -> [String: [String]] {
    let package = Sandbox.package
    let account = ["--email", "a@b.cd", "--password-stdin"]
    return [
      "list": [], "search": ["Title"], "show": [post], "people": [], "get": ["/posts"],
      "post": ["--title", "T", "--body", "B"], "comment": [post, "Text"],
      "edit": [post, "--title", "Other"], "star": [post], "unstar": [post], "delete": [post],
      "follow": ["ann"], "unfollow": ["ann"], "set": ["/notes", "1"], "mute": ["ann"],
      "unmute": ["ann"], "block": ["ann"], "unblock": ["ann"], "bookmark": [post],
      "unbookmark": [post],
      "notices": [], "read": ["--all"], "unread": [post], "name": [],
      "drafts list": [], "drafts show": ["1"], "drafts delete": ["1"],
      "accounts": [], "sign-in": account, "sign-up": account + ["--name", "Ann"],
      "sign-out": [], "reset-password": ["--email", "a@b.cd"],
      "import": [sandbox.directory + "/import.json"], "export": [],
      "backup": [sandbox.directory + "/backup"], "restore": [sandbox.directory + "/backup"],
      "fsck": [], "migrate": [sandbox.directory + "/none", sandbox.directory + "/target"],
      "stop": [], "cluster": [], "databases list": [], "databases create": ["another"],
      "databases move": ["hearth", "host"], "databases rebalance": [],
      "databases drain": ["host"], "databases delete": ["nothing", "--yes"],
      "databases rename": ["nothing", "something", "--yes"],
      "rules set": [package + "/assets/rules/blog.json"],
      "rules explain": ["--read", "/posts"],
      "users list": [],
      "users add": ["c@d.ef", "--password-stdin"], "users disable": ["x"],
      "users enable": ["x"], "users reset": ["x"], "users delete": ["x"], "users rotate-key": [],
      "info": [], "doctor": [], "report": [],
    ]
  }

  /// Commands that do not end on their own; what they share with the others is tested there.
  private static let endless: Set<String> = ["open", "watch", "serve"]

  /// Options whose use nothing shows in a sandbox, and the reason.
  private static let hidden: [String: Set<String>] = [
    // These read the file of credentials, which is missing here and there.
    "accounts": ["data-dir", "database", "profile"],
    "sign-out": ["data-dir", "database", "profile"],
    // Nobody has an account here and there.
    "name": ["database", "profile"],
    // These read files that are missing here and there.
    "drafts list": ["data-dir", "database", "profile"],
    "drafts show": ["data-dir", "database", "profile"],
    "drafts delete": ["data-dir", "database", "profile"],
    // These write it at the end, after a server has answered.
    "sign-in": ["data-dir"], "sign-up": ["data-dir"], "reset-password": ["data-dir"],
  ]

  @Test("Every command declares its name, which is slow to derive at startup")
  func names() {
    func check(_ type: any ParsableCommand.Type) {
      #expect(type.configuration.commandName != nil, "\(type)")
      for inner in type.configuration.subcommands { check(inner) }
    }
    check(Hearth.self)
  }

  /// The commands with common options; reading them takes a while.
  private static let declared = Result { try readCommands() }

  private static func commands() throws -> [Command] { try declared.get() }

  private static func readCommands() throws -> [Command] {
    func walk(_ type: any ParsableCommand.Type, _ path: [String]) throws -> [Command] {
      let inner = try type.configuration.subcommands.flatMap {
        try walk($0, path + [$0._commandName])
      }
      guard inner.isEmpty else { return inner }
      let json = try JSONParser.parse(Array(type._dumpHelp().utf8))
      let names = (json["command"]?["arguments"]?.elements ?? []).flatMap {
        ($0["names"]?.elements ?? []).compactMap { $0["name"]?.string }
      }
      return [Command(path: path, options: Set(names))]
    }
    return try walk(Hearth.self, []).filter { $0.options.isSuperset(of: ["json", "data-dir"]) }
  }

  /// The options that belong to several commands: those of the groups that commands share.
  private static func shared() throws -> Set<String> {
    struct Groups: ParsableCommand {
      @OptionGroup var choice: DatabaseChoice
      @OptionGroup var options: CommonOptions
    }
    let json = try JSONParser.parse(Array(Groups._dumpHelp().utf8))
    let names = (json["command"]?["arguments"]?.elements ?? []).flatMap {
      ($0["names"]?.elements ?? []).compactMap { $0["name"]?.string }
    }
    return Set(names).subtracting(["help", "h", "version"])
  }

  @Test("Every command declares the common options it does not use")
  func complete() throws {
    let commands = try Self.commands()
    let names = Set(commands.map(\.name))
    #expect(names == Set(OptionUse.unused.keys))
    let sandbox = try Sandbox()
    #expect(names == Set(Self.words(in: sandbox, post: "").keys).union(Self.endless))
    #expect(try Self.shared() == Set(Self.proofs(in: sandbox).keys))
    for (name, unused) in OptionUse.unused {
      let command = try #require(commands.first { $0.name == name })
      #expect(unused.isSubset(of: command.options), "\(name)")
    }
  }

  @Test("An unused option is rejected in any position and spelling")
  func refused() throws {
    for command in try Self.commands() {
      for option in OptionUse.unused[command.name] ?? [] {
        for word in ["--\(option)", "--\(option)=x"] {
          let error = #expect(throws: CommandFailure.self) {
            try OptionUse.check(command.path + [word], of: Hearth.self)
          }
          #expect(error?.status == .usage && error?.description.contains(option) == true)
        }
      }
    }
  }

  @Test(
    "A screen option that has no use with the given ones is rejected",
    arguments: [
      ["--plain", "--record", "F"], ["--script", "S", "--plain"], ["--script", "S", "--user", "x"],
      ["--script", "S", "--database", "http://127.0.0.1:1?ns=x"], ["--script", "S", "--log", "F"],
      ["open", "--script=S", "--data-dir=D"], ["--script", "S", "--ephemeral"],
      ["--script", "S", "--print-config"], ["--pace", "0"], ["--script", "S", "--pace=0"],
      ["--record-limit", "5"],
    ]
  )
  func screen(words: [String]) throws {
    let error = #expect(throws: CommandFailure.self) {
      try OptionUse.check(words, of: Hearth.self)
    }
    #expect(error?.status == .usage && error?.description.hasPrefix("--") == true)
    let used = ["--script", "S", "--show", "--pace", "0", "--record", "F", "--record-limit", "5"]
    try OptionUse.check(used + ["--theme", "light", "--config", "C"], of: Hearth.self)
  }

  @Test("An empty path and nothing behind an equals sign are rejected, other empty words are not")
  func emptyPaths() throws {
    for words in [
      ["--data-dir", ""], ["--socket="], ["--script", ""], ["post", "--title", "T", "--data-dir="],
      ["serve", "--log-mark", ""], ["replay", "x", "--cast", ""], ["migrate", "", "x"],
      ["migrate", "x", ""], ["backup", ""], ["import", "--replace", ""], ["rules", "set", ""],
      ["users", "list", "--data-dir", ""], ["swarm", "--report", ""], ["swarm", "--directory="],
      ["databases", "delete", "x", "--store", ""], ["serve", "--store="], ["--user=", "list"],
      ["list", "--user=", "top"],
    ] {
      let error = #expect(throws: CommandFailure.self, "\(words)") {
        try OptionUse.check(words, of: Hearth.self)
      }
      #expect(error?.status == .usage && error?.description.contains("empty") == true, "\(words)")
    }
    for words in [
      ["post", "--title", "", "--body", ""], ["get", ""], ["follow", ""],
      ["restore", "copy", "--ns", ""], ["fsck", "a="],
    ] {
      try OptionUse.check(words, of: Hearth.self)
    }
  }

  @Test("An accepted option changes what a command does")
  func used() throws {
    let sandbox = try Sandbox()
    let post = try sandbox.post("Title")
    let files = FileManager.default
    _ = files.createFile(atPath: sandbox.directory + "/file", contents: nil)
    let ephemeral = try ProgramPaths(
      dataDirectory: nil,
      socket: nil,
      isEphemeral: true,
      environment: sandbox.environment
    )
    _ = files.createFile(atPath: ephemeral.socket, contents: nil)
    _ = files.createFile(atPath: sandbox.directory + "/import.json", contents: Data("{}".utf8))
    try files.createDirectory(
      atPath: sandbox.directory + "/.config/hearth",
      withIntermediateDirectories: true
    )
    try sandbox.write(
      "[nonsense]\ndatabase = \"nonsense://x\"\n",
      to: ".config/hearth/profiles.toml"
    )
    let words = Self.words(in: sandbox, post: post)
    let proofs = Self.proofs(in: sandbox)
    func run(_ command: Command, _ options: [String]) throws -> Sandbox.Outcome {
      try sandbox.run(
        command.path + (words[command.name] ?? []) + options,
        input: "a long password\n"
      )
    }
    let shared = try Self.shared()
    let day = Int(Thoroughness.seed % 3)
    for (number, command) in try Self.commands().enumerated()
    where !Self.endless.contains(command.name) {
      let options = command.options.intersection(shared)
        .subtracting(OptionUse.unused[command.name] ?? [])
        .subtracting(Self.hidden[command.name] ?? [])
      let plain = try run(command, [])
      for (place, option) in options.sorted().enumerated()
      where Thoroughness.isFull || (number + place + day) % 3 == 0 {
        guard case .words(let extra)? = proofs[option] else { continue }
        let outcome = try run(command, extra)
        let isSame = outcome.output == plain.output && outcome.errors == plain.errors
        #expect(!isSame, "hearth \(command.name) \(extra) does the same without the option")
      }
    }
  }
}
