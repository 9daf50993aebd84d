import Foundation
import LocalPostgres
import PostgresTestSupport
import Testing

/// Commands that read and change the databases in PostgreSQL, without a server.
@Suite(
  "Commands with --store",
  .enabled(if: PostgresServer.isInstalled),
  .timeLimit(.minutes(3))
)
struct StoreCommandTests {
  @Test("A blog is imported, checked, exported, backed up and moved, and stays the same")
  func wholeWay() throws {
    let sandbox = try Sandbox()
    let postgres = try PostgresServer.shared.get()
    let store = try postgres.makeDatabase()
    let sample = Sandbox.package + "/assets/sample/blog.json"
    #expect(try sandbox.hearth("import", sample, "--store", store).status == 0)
    let check = try sandbox.hearth("fsck", "--store", store)
    #expect(check.status == 0, "\(check.output)\(check.errors)")
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
    let cluster = try sandbox.hearth("cluster", "--store", second)
    #expect(cluster.status == 0, "\(cluster.errors)")
  }

  @Test("fsck finds a count that is not that of its stars, and leaves the repair to a server")
  func promises() throws {
    let sandbox = try Sandbox()
    let store = try PostgresServer.shared.get().makeDatabase()
    let post = #"{"uid":"a","author":"A","title":"T","body":"B","starCount":2,"stars":{"a":true}}"#
    let file = sandbox.directory + "/blog.json"
    try #"{"posts":{"-P1":\#(post)},"user-posts":{"a":{"-P1":\#(post)}}}"#
      .write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try sandbox.hearth("import", file, "--store", store).status == 0)
    let check = try sandbox.hearth("fsck", "--store", store)
    #expect(check.status == 1)
    #expect(check.output.contains("/posts/-P1: starCount is 2, but there is 1 star"))
    let repair = try sandbox.hearth("fsck", "--repair", "--store", store)
    #expect(repair.status == 2)
    #expect(repair.errors.contains("through one of its servers"))
  }
}
