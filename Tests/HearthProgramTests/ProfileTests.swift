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
}
