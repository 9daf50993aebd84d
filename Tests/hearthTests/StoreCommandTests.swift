import Foundation
import HearthLab
import PostgresTestSupport
import RealtimeCore
import Testing

/// Commands that read and change the databases in PostgreSQL, without a server.
@Suite("Commands with --store", .needsPostgres, .timeLimit(.minutes(3)))
struct StoreCommandTests {
  private let sandbox: Sandbox

  init() throws { sandbox = try Sandbox() }

  @Test("A blog survives import, fsck, export, backup and migration unchanged")
  func wholeWay() throws {
    let postgres = try PostgresServer.shared.get()
    let store = try postgres.makeDatabase()
    let sample = Sandbox.package + "/assets/sample/blog.json"
    #expect(try sandbox.hearth("import", sample, "--store", store).status == 0)
    let check = try sandbox.succeed("fsck", "--store", store)
    #expect(check.output.contains("no fault"))
    let export = try sandbox.hearth("export", "--store", store)
    #expect(export.status == 0 && export.output.count > 1_000)
    let copy = sandbox.directory + "/copy.sqlite"
    #expect(try sandbox.hearth("backup", copy, "--store", store).status == 0)
    #expect(try sandbox.hearth("fsck", copy).status == 0)
    let second = try postgres.makeDatabase()
    let data = sandbox.directory + "/moved"
    #expect(try sandbox.hearth("migrate", store, data).status == 0)
    #expect(try sandbox.hearth("migrate", data, second).status == 0)
    #expect(try sandbox.hearth("export", "--store", second).output == export.output)
    try sandbox.succeed("cluster", "--store", second)
    let third = try postgres.makeDatabase()
    let name = third.split(separator: "/").last ?? ""
    let words = "host=127.0.0.1 port=\(postgres.port) user=hearth dbname=\(name)"
    #expect(try sandbox.hearth("migrate", data, words).status == 0)
    #expect(try sandbox.hearth("export", "--store", third).output == export.output)
  }

  @Test("Odd keys are migrated unchanged, and invalid ones are rejected with their position")
  func maps() throws {
    let postgres = try PostgresServer.shared.get()
    let (store, data) = (try postgres.makeDatabase(), sandbox.directory + "/source")
    let odd =
      [
        "\u{FEFF}", "0", "00", "-1", "%2F", "a b", "\\", "'", "\"", "'; DROP SCHEMA hearth; --",
        "é", "e\u{301}",
      ]
      + ["👩‍👩‍👧", "\u{202E}", "~", "*", "null", "\u{10FFFF}", String(repeating: "é", count: 150)]
    var members = odd.map { JSONMember($0, .string($0 + "/..\u{0}")) }
    members.append(
      JSONMember("deep", .object(members.map { JSONMember($0.name, .object(members)) }))
    )
    members.append(
      JSONMember("ranked", .object((".value", .string("a/b")), (".priority", .string(""))))
    )
    let text = JSONValue.object(("posts", .object(members))).text
    #expect(try sandbox.hearth("import", "-", "--data-dir", data, input: text).status == 0)
    let exported = try sandbox.hearth("export", "--data-dir", data).output
    _ = try sandbox.hearth("stop", "--data-dir", data)
    try sandbox.succeed("migrate", data, store)
    #expect(try sandbox.hearth("export", "--store", store).output == exported)
    let back = sandbox.directory + "/back"
    #expect(try sandbox.hearth("migrate", store, back).status == 0)
    #expect(try sandbox.hearth("export", "--data-dir", back).output == exported)
    _ = try sandbox.hearth("stop", "--data-dir", back)
    #expect(try sandbox.hearth("migrate", data, store).status == 6, "it holds a database")

    // Imported there again, they replace themselves.
    #expect(try sandbox.hearth("import", "-", "--store", store, input: text).status == 0)
    #expect(try sandbox.hearth("export", "--store", store).output == exported)
    let long = String(repeating: "x", count: 1_000)
    for hostile in [
      #"{"":1}"#, #"{"/":1}"#, #"{".x":1}"#, #"{"a/b":1}"#, #"{"a":{".sv":"timestamp"}}"#,
      #"{"a":{".value":1,"b":2}}"#, #"{"a":{"b":2,".value":1}}"#, #"{"a":{"b":1,"b":1}}"#,
      #"{"posts":{"":{"a":1}}}"#, #"{"\ud83d":1}"#, #"{"a":"\ud83d"}"#, #"{"\ude00\ud83d":1}"#,
      "{\"\(long)\":1}", #"{"a":{".priority":{}}}"#, #"{"a":{".foo":null}}"#, #"{"a\u0000":1}"#,
      String(repeating: #"{"a":"#, count: 33) + "1" + String(repeating: "}", count: 33),
    ] {
      for padding in ["", String(repeating: "y", count: 100_000)] {
        let text = "{\"first\":\"\(padding)\"," + hostile.dropFirst()
        for place in [["--store", store], ["--data-dir", back]] {
          let words = ["import", "-"] + place
          let refused = try sandbox.run(words, input: text)
          #expect(refused.status == 2, "\(hostile)")
          #expect(refused.errors.contains("stdin, line 1, byte "), "\(hostile): \(refused.errors)")
        }
      }
    }
    #expect(try sandbox.hearth("export", "--store", store).output == exported)
    #expect(try sandbox.hearth("export", "--data-dir", back).output == exported)
    _ = try sandbox.hearth("stop", "--data-dir", back)
  }

  @Test("A database that a store does not have is not found")
  func missing() throws {
    let store = try PostgresServer.shared.get().makeDatabase()
    try sandbox.succeed("databases", "create", "other", "--store", store)
    for command in ["backup", "export"] {
      let file = sandbox.directory + "/copy"
      let outcome = try sandbox.hearth(command, file, "--store", store)
      #expect(outcome.status == 3 && outcome.errors.contains("no such database"), "\(outcome)")
      #expect(!FileManager.default.fileExists(atPath: file))
    }
  }

  @Test(
    "A command ends with status 5 while PostgreSQL cannot be reached",
    arguments: [
      ["users", "list"], ["export"], ["fsck"], ["databases"], ["databases", "create", "x"],
      ["cluster"],
    ]
  )
  func unreachable(command: [String]) throws {
    let outcome = try sandbox.run(command + ["--store", "postgres://127.0.0.1:1/nowhere"])
    #expect(outcome.status == 5, "\(outcome.errors)")
    let wrong = try sandbox.run(command + ["--store", "postgres://127.0.0.1:1/x?nothing=1"])
    #expect(wrong.status == 1, "\(wrong.errors)")
  }

  @Test("A backup replaces what one that was killed has left behind")
  func killedBackup() throws {
    let store = try PostgresServer.shared.get().makeDatabase()
    let copy = sandbox.directory + "/copy.sqlite"
    let draft = copy + ".partial-draft"
    for place in [["--store", store], ["--data-dir", draft]] {
      let words = ["import", "-"] + place
      #expect(try sandbox.run(words, input: #"{"posts":{"a":1}}"#).status == 0)
    }
    _ = try sandbox.hearth("stop", "--data-dir", draft)
    try sandbox.succeed("backup", copy, "--store", store)
    #expect(access(draft, F_OK) != 0)
  }

  @Test("A database that PostgreSQL takes long to create is not said to have existed")
  func slowCreation() throws {
    let postgres = try PostgresServer.shared.get()
    let store = try postgres.makeDatabase()
    try sandbox.succeed("databases", "create", "first", "--store", store)
    _ = try postgres.sql(
      """
      CREATE FUNCTION public.linger() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$;
      CREATE TRIGGER linger AFTER INSERT ON hearth.databases
        FOR EACH ROW EXECUTE FUNCTION public.linger()
      """,
      at: store
    )
    try sandbox.succeed("databases", "create", "second", "--store", store)
    #expect(try sandbox.hearth("databases", "create", "second", "--store", store).status == 6)
    #expect(try sandbox.hearth("databases", "--store", store).lines == ["first", "second"])
  }

  @Test("A migration to a store that has accounts is refused before anything is moved")
  func occupied() throws {
    let store = try PostgresServer.shared.get().makeDatabase()
    func add(_ place: String...) throws {
      let words = ["users", "add", "ann@example.org", "--password-stdin"] + place
      let added = try sandbox.run(words, input: "a long password\n")
      #expect(added.status == 0, "\(added.errors)")
    }
    try sandbox.succeed("databases", "create", "x", "--store", store)
    try add("--store", store, "--ns", "x")
    try sandbox.succeed("databases", "delete", "x", "--yes", "--store", store)
    let data = sandbox.directory + "/source"
    try sandbox.succeed("import", "-", "--data-dir", data, input: #"{"a":1}"#)
    _ = try sandbox.hearth("stop", "--data-dir", data)
    try add("--data-dir", data)
    let refused = try sandbox.hearth("migrate", data, store)
    #expect(refused.status == 6 && refused.errors.contains("already has accounts"), "\(refused)")
    #expect(try sandbox.hearth("databases", "--store", store).output == "")
  }

  @Test("fsck finds a wrong star count but leaves the repair to a server")
  func promises() throws {
    let store = try PostgresServer.shared.get().makeDatabase()
    let post = #"{"uid":"a","author":"A","title":"T","body":"B","starCount":2,"stars":{"a":true}}"#
    let file = try sandbox.write(
      #"{"posts":{"-P1":\#(post)},"user-posts":{"a":{"-P1":\#(post)}}}"#,
      to: "blog.json"
    )
    #expect(try sandbox.hearth("import", file, "--store", store).status == 0)
    let check = try sandbox.hearth("fsck", "--store", store)
    #expect(check.status == 1)
    #expect(check.output.contains("/posts/-P1: starCount is 2, but there is 1 star"))
    let repair = try sandbox.hearth("fsck", "--repair", "--store", store)
    #expect(repair.status == 2)
    #expect(repair.errors.contains("through one of its servers"))
  }

  @Test("Accounts and keys are changed only in the given store")
  func accounts() throws {
    let postgres = try PostgresServer.shared.get()
    let store = try postgres.makeDatabase()
    let early = try sandbox.hearth("users", "list", "--store", store)
    #expect(early.status != 0 && early.errors.contains("no schema hearth"))
    try sandbox.succeed("databases", "create", "other", "--store", store)
    let adding = ["users", "add", "ann@example.org", "--password-stdin", "--store", store]
    let refused = try sandbox.run(adding, input: "a long password\n")
    #expect(refused.status == 3, "\(refused.errors)")
    #expect(refused.errors.contains("there is no database \"hearth\""), "\(refused.errors)")
    try sandbox.succeed("databases", "create", "hearth", "--store", store)
    let added = try sandbox.run(adding, input: "a long password\n")
    #expect(added.status == 0, "\(added.errors)")
    #expect(try sandbox.hearth("users", "rotate-key", "--store", store).status == 0)
    #expect(try sandbox.hearth("users", "disable", "ann@example.org", "--store", store).status == 0)
    let listed = try sandbox.hearth("users", "list", "--store", store)
    #expect(listed.output.contains("ann@example.org") && listed.output.contains("disabled"))
    #expect(try postgres.sql("SELECT count(*) FROM hearth.accounts", at: store) == "1")
    #expect(try postgres.sql("SELECT count(*) FROM hearth.secrets", at: store) != "0")
    #expect(try sandbox.hearth("users", "list").output == "", "the local accounts are untouched")
  }

  @Test("A server reachable from other machines must advertise an address")
  func nameless() throws {
    let outcome = try sandbox.run([
      "serve", "--store", "postgres://127.0.0.1:1/nowhere", "--port", "0", "--address", "0.0.0.0",
      "--allow-plaintext",
    ])
    #expect(outcome.status == 2 && outcome.errors.contains("--advertise"), "\(outcome.errors)")
  }

  @Test("A server does not take the address of another running one")
  func sameName() throws {
    let store = try PostgresServer.shared.get().makeDatabase()
    let options = ["--store", store, "--port", "0", "--advertise", "127.0.0.1:7001"]
    let first = try sandbox.serve(options)
    let second = try sandbox.run(["serve"] + options)
    #expect(second.status != 0)
    #expect(second.errors.contains("another server is running as"), "\(second.errors)")
    first.process.kill()
    let third = try sandbox.serve(options)
    kill(third.process.processIdentifier, SIGTERM)
    #expect(third.process.wait() == 0)
  }

  @Test(
    "An option that does not apply with --store is rejected before anything is done",
    arguments: [
      ["users", "list"], ["users", "rotate-key"], ["users", "disable", "x"], ["export"], ["fsck"],
      ["backup", "copy.sqlite"], ["import", "/dev/null"], ["databases"],
      ["databases", "create", "x"],
      ["databases", "move", "x", "y"], ["cluster"], ["serve", "--port", "0"],
    ]
  )
  func refused(command: [String]) throws {
    let store = "postgres://127.0.0.1:1/nowhere"
    var others = [["--data-dir", sandbox.directory + "/data"]]
    if command == ["users", "rotate-key"] {
      others += [
        ["--ephemeral"], ["--database", "http://127.0.0.1:1?ns=x"], ["--user", "x"],
        ["--account", "x"], ["--api-key", "x"], ["--ca-file", "x"], ["--socket", "x"],
      ]
    }
    for other in others {
      let outcome = try sandbox.run(command + ["--store", store] + other)
      #expect(outcome.status == 2, "\(command) \(other): \(outcome.errors)")
    }
  }
}
