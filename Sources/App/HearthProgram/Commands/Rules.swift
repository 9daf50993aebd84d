import ArgumentParser
import Foundation
import RealtimeCore
import RealtimeServer

struct Rules: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rules",
    abstract: "Check security rules, ask which rule decides a request, or put them in force.",
    subcommands: [Check.self, Explain.self, Replace.self]
  )

  /// Loads the rules from a file.
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

extension CommonOptions {
  /// Asks the local server, as its administrator.
  ///
  /// - Throws: ``CommandFailure`` with the server's reason.
  fileprivate func ask(
    _ method: String,
    _ target: String,
    _ body: [UInt8] = []
  ) async throws -> [UInt8] {
    let server = AdminSocket(path: try paths().socket, timeout: .seconds(timeout))
    let answer = try await server.answer(to: method, target, body)
    guard answer.status != 200 else { return answer.body }
    let reason = (try? JSONParser.parse(answer.body))?["error"]?.string
    throw CommandFailure(
      answer.status == 404 ? .notFound : answer.status >= 500 ? .offline : .failed,
      reason ?? "the server refuses: status \(answer.status)"
    )
  }
}

extension Rules {
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check",
      abstract: "Check a rules document; mistakes are printed as FILE:LINE:COLUMN: MESSAGE."
    )

    @Argument("The rules; - reads stdin.", completion: .file())
    var file: String

    func run() async throws {
      _ = try Rules.load(file)
    }
  }

  struct Replace: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set",
      abstract: "Give a database rules of its own, which replace those that it has.",
      discussion: """
        A running server takes them at once, through its socket; otherwise they are stored. While a \
        server leads a database in PostgreSQL, name its socket with --socket instead of --store.
        """
    )

    @Argument("The rules; - reads stdin.", completion: .file())
    var file: String

    @OptionGroup var choice: DatabaseChoice

    @OptionGroup var options: CommonOptions

    func run() async throws {
      let source = try Rules.load(file).source
      if choice.storage.store == nil, try options.hasServer() {
        let target = "/.settings/rules.json?ns=\(choice.name)"
        _ = try await options.ask("PUT", target, Array(source.utf8))
        return
      }
      _ = try choice.database(options)
      guard let store = try choice.storage.databases(options).open(choice.name) else {
        throw CommandFailure(.notFound, "there is no database \"\(choice.name)\"")
      }
      defer { try? store.close() }
      // A store accepts batches once its data has been read.
      _ = try store.load()
      try store.commit(CommitBatch(commits: [], rules: source))
    }
  }

  struct Explain: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "explain",
      abstract: "Say whether rules allow a request, and which rule decides.",
      discussion: """
        Without --rules, it asks those in force in the local database, about the data there. Exit \
        status: 0 allowed, 4 not allowed, 2 unusable input.
        """
    )

    @Argument("With --write, the new data as JSON; null, the default, removes.")
    var value: String?

    @Option(
      name: .customLong("as"),
      help: "Who asks: a user, or all of auth as a JSON object; without it, someone not signed in."
    )
    var user: String?

    @Option(
      help: "A refused request, in the file that the refusal names; - reads stdin.",
      completion: .file()
    )
    var request: String?

    @Option(help: "Read at this path.")
    var read: String?

    @Option(help: "Write at this path.")
    var write: String?

    @Option(
      help: "The query of --read, as in REST: orderBy=\"date\"&limitToLast=10."
    )
    var query: String?

    @Option(
      help: "The rules; - reads stdin; by default, those in force, or else those of the blog.",
      completion: .file()
    )
    var rules: String?

    @Option(
      help: """
        The existing data, as a JSON file like that of "hearth export"; by default, with --rules \
        none, otherwise that of the database.
        """,
      completion: .file()
    )
    var data: String?

    @Flag(
      help: "With --write, the data is an update: an object of paths below it and their new data."
    )
    var update = false

    @OptionGroup var choice: DatabaseChoice

    @OptionGroup var options: CommonOptions

    func validate() throws {
      guard request == nil else {
        guard user == nil, read == nil, write == nil, value == nil, query == nil, !update else {
          throw ValidationError(
            "--request says who asks for what; only --rules and --data go with it."
          )
        }
        return
      }
      if read != nil, update { throw ValidationError("Only --write takes an update.") }
      if (read == nil) == (write == nil) {
        throw ValidationError("Name one path, with --read or with --write.")
      }
      if read != nil, value != nil { throw ValidationError("Only --write takes data.") }
      if write != nil, query != nil { throw ValidationError("Only --read takes a query.") }
    }

    func run() async throws {
      var question = self
      if let request { try question.ask(request) }
      let existing = try await existing()
      let decision = try question.decide(by: try await inForce(), on: existing)
      if options.json { Output.line(report(decision)) } else { print(decision) }
      if !decision.isAllowed { throw ExitStatus.notPermitted.exitCode }
    }

    /// Takes who asks for what from a file.
    private mutating func ask(_ file: String) throws(CommandFailure) {
      let source = file == "-" ? "stdin" : file
      let json = try DatabasePath.json(try InputFile.bytes(file), from: source)
      user = json["as"]?.string
      read = json["read"]?.string
      write = json["write"]?.string
      query = json["query"]?.string
      value = json["data"]?.text
      update = json["update"] == .bool(true)
      guard (read == nil) != (write == nil) else {
        throw CommandFailure(.usage, "\(source) is not the file of a refusal")
      }
    }

    /// The rules that decide: those that were named, those in force, or those of the blog.
    private func inForce() async throws -> RuleSet {
      if let rules { return try Rules.load(rules) }
      if choice.storage.store == nil, try options.hasServer() {
        let target = "/.settings/rules.json?ns=\(choice.name)"
        return try RuleSet(bytes: try await options.ask("GET", target))
      }
      let database = try options.ephemeral ? nil : choice.database(options)
      if let database, try database.exists, let source = try database.load().rules {
        return try RuleSet(bytes: Array(source.utf8))
      }
      return try Rules.load(SharedFiles.rules(nil, orElse: "blog.json"))
    }

    /// The data before the request.
    private func existing() async throws -> Node {
      if let data { return try Self.node(try InputFile.bytes(data), from: data) }
      if rules != nil { return .empty }
      if options.ephemeral {
        guard try options.hasServer() else { return .empty }
        let json = try await options.ask("GET", "/.json?format=export&ns=\(choice.name)")
        return try Self.node(json, from: "the data")
      }
      let database = try choice.database(options)
      guard try database.exists else { return .empty }
      var json: [UInt8] = []
      try database.export(.oneLine) { json += $0.utf8 }
      return try Self.node(json, from: "the data")
    }

    private func decide(by rules: RuleSet, on root: Node) throws(CommandFailure) -> Decision {
      let path = Path(wire: try DatabasePath.parse(read ?? write ?? "/"))
      let auth = try auth()
      let now = Int64(Date().timeIntervalSince1970 * 1_000)
      if read != nil {
        return rules.canRead(
          path,
          query: try selection(),
          by: RuleSubject(auth),
          now: now,
          root: root,
          explaining: true
        )
      }
      let changes = try changes(at: path)
      let new = changes.reduce(root) { tree, change in
        let node = change.node.resolvingDeferred(existing: root[change.path], timestamp: now)
        return tree.setting(change.path, to: node)
      }
      return rules.canWrite(
        changes.map(\.path),
        by: RuleSubject(auth),
        now: now,
        from: root,
        to: new,
        explaining: true
      )
    }

    /// What is written, and where.
    private func changes(at path: Path) throws(CommandFailure) -> [(path: Path, node: Node)] {
      let text = Array((value ?? "null").utf8)
      guard update else { return [(path, try Self.node(text, from: "the new data"))] }
      guard let members = try DatabasePath.json(text, from: "the new data").members else {
        throw CommandFailure(.usage, "an update is an object of paths and their data")
      }
      var changes: [(path: Path, node: Node)] = []
      for member in members {
        let below = Path(wire: try DatabasePath.parse("/" + member.name))
        let node = try Self.node(Array(member.value.text.utf8), from: member.name)
        changes.append((path.appending(below), node))
      }
      return changes
    }

    /// The query of a read.
    private func selection() throws(CommandFailure) -> Query {
      guard let query else { return .all }
      do throws(DatabaseServerError) {
        return try Query(restParameters: query)
      } catch {
        throw CommandFailure(.usage, "--query: \(error)")
      }
    }

    /// The `auth` variable that the rules see.
    private func auth() throws(CommandFailure) -> JSONValue? {
      guard let user else { return nil }
      guard user.hasPrefix("{") else { return .object(("uid", .string(user))) }
      return try DatabasePath.json(Array(user.utf8), from: "--as")
    }

    /// Parses data from JSON; no bytes mean no data.
    private static func node(_ bytes: [UInt8], from source: String) throws(CommandFailure) -> Node {
      if bytes.isEmpty { return .empty }
      let json = try DatabasePath.json(bytes, from: source)
      do throws(NodeError) {
        return try Node(json: json)
      } catch {
        throw CommandFailure(.usage, "\(source): \(error)")
      }
    }

    private func print(_ decision: Decision) {
      Output.line(decision.isAllowed ? "allowed" : "denied")
      for line in decision.explanation.description.split(separator: "\n") {
        Output.line(untrusted: String(line))
      }
      let evaluations = decision.explanation.evaluations
      if !evaluations.isEmpty { Output.line("Evaluated:") }
      for evaluation in evaluations {
        let result = evaluation.outcome == .satisfied ? "true " : "false"
        Output.line(untrusted: "  \(result) \(evaluation.title)")
      }
    }

    private func report(_ decision: Decision) -> JSONValue {
      let explanation = decision.explanation
      return .object(
        ("allowed", .bool(decision.isAllowed)),
        ("rule", explanation.decisive.map(Self.report) ?? .null),
        (
          "values",
          .object(explanation.bindings.map { JSONMember($0.name, .string($0.text)) })
        ),
        ("evaluated", .array(explanation.evaluations.map(Self.report)))
      )
    }

    private static func report(_ evaluation: Explanation.Evaluation) -> JSONValue {
      let (result, error): (Bool, String?) =
        switch evaluation.outcome {
        case .satisfied: (true, nil)
        case .refused: (false, nil)
        case .failed(let message, _): (false, message)
        }
      return .object(
        ("kind", .string(evaluation.kind.rawValue)),
        ("rule", .string(evaluation.rulePath)),
        ("path", .string(evaluation.location.description)),
        ("line", .integer(Int64(evaluation.position.line))),
        ("expression", .string(evaluation.expression)),
        ("result", .bool(result)),
        ("error", error.map { .string($0) } ?? .null)
      )
    }
  }
}
