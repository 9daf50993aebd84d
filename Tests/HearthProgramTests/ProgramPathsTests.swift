import Foundation
import TestSupport
import Testing

@testable import HearthProgram

@Suite("Paths of the program")
struct ProgramPathsTests {
  private static func socket(
    _ runtime: TemporaryDirectory,
    dataDirectory: String? = nil,
    _ environment: [String: String]
  ) throws -> String {
    try ProgramPaths(
      dataDirectory: dataDirectory,
      socket: nil,
      isEphemeral: true,
      environment: environment.merging(["XDG_RUNTIME_DIR": runtime.path]) { old, _ in old }
    ).socket
  }

  @Test("A tilde stands for HOME, as in a shell")
  func tilde() {
    let environment = ["HOME": "/elsewhere"]
    #expect(ProgramPaths.full("~/a b", environment) == "/elsewhere/a b")
    #expect(ProgramPaths.full("~", environment) == "/elsewhere")
    #expect(ProgramPaths.full("/x/~", environment) == "/x/~")
    #expect(ProgramPaths.full("~/a", ["HOME": "relative"]).hasPrefix("/"))
  }

  @Test("Only the data directory of the system's user has the socket with the short name")
  func sockets() throws {
    let runtime = try TemporaryDirectory()
    let user = try #require(getpwuid(geteuid()))
    let home = String(cString: user.pointee.pw_dir)
    let short = runtime.file("hearth/ephemeral.sock")
    #expect(try Self.socket(runtime, ["HOME": home]) == short)
    let standard = home + "/.local/share"
    #expect(try Self.socket(runtime, ["XDG_DATA_HOME": standard, "HOME": "/elsewhere"]) == short)
    #expect(try Self.socket(runtime, dataDirectory: standard + "/hearth", [:]) == short)
    let others = [
      try Self.socket(runtime, ["HOME": "/elsewhere"]),
      try Self.socket(runtime, ["HOME": home, "XDG_DATA_HOME": "/elsewhere"]),
      try Self.socket(runtime, dataDirectory: "/elsewhere", ["HOME": home]),
    ]
    #expect(Set(others + [short]).count == 4)
  }

  @Test("A path that is not UTF-8, which the system's variables may have, is refused")
  func unreadable() throws {
    let runtime = try TemporaryDirectory()
    for variable in ["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"] {
      var environment = ["HOME": "/elsewhere"]
      environment[variable] = "/j\u{FFFD}rg"
      let error = #expect(throws: CommandFailure.self) {
        try Self.socket(runtime, environment)
      }
      #expect(error?.status == .usage && error?.description.contains("is not UTF-8") == true)
    }
    _ = try Self.socket(runtime, dataDirectory: "/elsewhere", ["HOME": "/j\u{FFFD}rg"])
  }

  @Test("Unsent writes are looked for under the sockets of the same data only")
  func formerSockets() throws {
    func sockets(_ dataDirectory: String?, _ environment: [String: String]) throws -> Set<String> {
      let paths = try ProgramPaths(
        dataDirectory: dataDirectory,
        socket: nil,
        isEphemeral: false,
        environment: environment.merging(["XDG_RUNTIME_DIR": "/run/one", "HOME": "/h"]) { $1 }
      )
      return Set(paths.formerSockets)
    }
    let own = try sockets(nil, ["XDG_DATA_HOME": "/own"])
    #expect(own.contains("/own/hearth/run/hearth.sock"))
    let other = try sockets(nil, ["XDG_DATA_HOME": "/other"])
    let named = try sockets("/own/hearth", [:])
    #expect(named.isSubset(of: own) && named.isDisjoint(with: other))
    #expect(named.contains { $0.hasPrefix("/run/one/hearth/hearth-") })
    #expect(!named.contains { $0.hasSuffix("/hearth.sock") })
  }
}
