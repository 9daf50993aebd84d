import Foundation
import TestSupport
import Testing

@testable import HearthProgram

@Suite("Profiles")
struct ProfileTests {
  @Test(
    "Whatever was added can be read again",
    arguments: ["k\n", "\r\n", "\u{301}k", "\"\\\u{301}", "\u{1B}]", "a # b", ""]
  )
  func values(text: String) throws {
    let place = try TemporaryDirectory()
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    let profile = Profile(name: "p", database: text, apiKey: text, caFile: text)
    try file.add(profile)
    try file.add(Profile(name: "q", database: "x"))
    #expect(try file.read() == [profile, Profile(name: "q", database: "x")])
    try file.remove("p")
    #expect(try file.read().map(\.name) == ["q"])
  }

  @Test(
    "Profiles that root adds belong to the owner of the directory",
    .enabled(if: geteuid() == 0, "only root can give files away")
  )
  func owner() throws {
    let place = try TemporaryDirectory()
    #expect(chown(place.path, 7, 8) == 0)
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    for name in ["p", "q"] {
      try file.add(Profile(name: name, database: "x"))
      var status = stat()
      #expect(stat(file.path, &status) == 0 && status.st_uid == 7 && status.st_gid == 8)
    }
  }

  @Test("A file that was saved on Windows is read, and profiles are added to it")
  func windows() throws {
    let place = try TemporaryDirectory()
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    #expect(mkdir(place.file("hearth"), 0o700) == 0)
    let text = "\u{FEFF}# mine\r\n[p]\r\ndatabase = \"x\"\r\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
    try file.add(Profile(name: "q", database: "y"))
    #expect(
      try file.read() == [Profile(name: "p", database: "x"), Profile(name: "q", database: "y")]
    )
  }

  @Test("Each line is read as TOML, and a mistake is reported with its line")
  func lines() throws {
    let place = try TemporaryDirectory()
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    #expect(mkdir(place.file("hearth"), 0o700) == 0)
    let text = """
      [ p ] # mine
      "database" = 'C:\\x' # a comment
      unknown = "y"
      """
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
    #expect(try file.read() == [Profile(name: "p", database: "C:\\x")])
    for mistake in ["[q.r]", "[[q]]", "[a b]", "api-key", "api-key = [1]", "ca-file = \"\"\"a"] {
      try Data("\(text)\n\n\(mistake)".utf8).write(to: URL(fileURLWithPath: file.path))
      do throws(CommandFailure) {
        _ = try file.read()
        Issue.record("\(mistake) was read")
      } catch {
        #expect(error.description == "\(file.path):5: this is not a line of a profile")
      }
    }
  }

  @Test("Profiles that are added at the same time are all kept")
  func sameTime() throws {
    let place = try TemporaryDirectory()
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    DispatchQueue.concurrentPerform(iterations: 40) { number in
      while true {
        do throws(CommandFailure) {
          return try file.add(Profile(name: "p\(number)", database: "x"))
        } catch {
          // Another thread is writing the file.
          guard error.status == .conflict else { return }
        }
      }
    }
    #expect(try Set(file.read().map(\.name)).count == 40)
  }

  @Test("A file that cannot be read is not replaced")
  func unreadable() throws {
    let place = try TemporaryDirectory()
    let file = try ProfileFile(environment: ["XDG_CONFIG_HOME": place.path])
    #expect(mkdir(place.file("hearth"), 0o700) == 0)
    // Even root cannot follow a link to itself.
    #expect(symlink("profiles.toml", file.path) == 0)
    #expect(throws: CommandFailure.self) { try file.add(Profile(name: "p", database: "x")) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == "profiles.toml")
    unlink(file.path)
    try Data([0x23, 0xFC]).write(to: URL(fileURLWithPath: file.path))
    #expect(throws: CommandFailure.self) { try file.add(Profile(name: "p", database: "x")) }
    #expect(FileManager.default.contents(atPath: file.path) == Data([0x23, 0xFC]))
  }
}
