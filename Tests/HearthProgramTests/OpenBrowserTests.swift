import Foundation
import TestSupport
import Testing

@testable import BlogTUI
@testable import HearthProgram

@Suite("Browser", .timeLimit(.minutes(1)))
struct OpenBrowserTests {
  private static let link = "https://example.org/?a=1&b='2'"

  /// Opens the link with shell commands, which get it as `$1`, and returns what is reported.
  private func report(_ commands: String..., body: () throws -> Void = {}) async throws -> String? {
    let (reports, continuation) = AsyncStream.makeStream(of: String.self)
    let result = Browser.open(
      Self.link,
      environment: ["BROWSER": commands.joined(separator: ":")]
    ) { continuation.yield($0) }
    try result.get()
    try body()
    return await reports.first { _ in true }
  }

  @Test("A browser that fails is reported with its status, with the signal for one that is killed")
  func fails() async throws {
    #expect(
      try await report("sh -c 'exit 3' sh") == "sh ended with status 3; copy the link instead."
    )
    #expect(
      try await report("sh -c 'kill -9 $$' sh")
        == "sh was ended by signal 9; copy the link instead."
    )
    // There is no such signal.
    #expect(
      try await report("sh -c 'exit 255' sh") == "sh ended with status 255; copy the link instead."
    )
  }

  @Test("The next browser is tried when one cannot be started")
  func missing() async throws {
    let text = try await report("/nowhere/browser", "'unclosed", "sh -c 'exit 4' sh")
    #expect(text == "sh ended with status 4; copy the link instead.")
  }

  @Test("The link reaches the browser as one word, in the place of %s or at the end")
  func words() async throws {
    let directory = try TemporaryDirectory()
    let file = directory.path + "/link"
    for place in ["", "%s"] {
      _ = try await report("sh -c 'printf %b \"$1\" > \(file); exit 1' sh \(place)")
      #expect(try String(contentsOfFile: file, encoding: .utf8) == Self.link)
    }
  }

  @Test("A browser that keeps running is not waited for")
  func runs() async throws {
    let directory = try TemporaryDirectory()
    let pipe = directory.path + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    let text = try await report("sh -c 'read line < \(pipe); exit 5' sh") {
      let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: pipe))
      try handle.write(contentsOf: Data("go on\n".utf8))
      try handle.close()
    }
    #expect(text == "sh ended with status 5; copy the link instead.")
  }

  @Test("Only web links are opened")
  func otherLinks() {
    for link in ["file:///etc/passwd", "javascript:alert(1)", "-h", ""] {
      guard case .failure = Browser.open(link, environment: ["BROWSER": "false"]) else {
        Issue.record("opened: \(link)")
        continue
      }
    }
  }
}
