import BlogModel
import BlogTUI
import Foundation
import RealtimeDatabase
import RealtimeServer
import Testing

@testable import HearthProgram

/// What the app says about a request that the rules of a real server refuse.
@Suite("Refusals in the app", .timeLimit(.minutes(1)))
@MainActor
struct RefusalTests {
  /// A request that rules refuse, and what the app says about it to whoever runs the server.
  struct Refusal: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let rules: String
    let writes: Bool
    let told: String
  }

  nonisolated static let refusals = [
    Refusal(
      testDescription: "read",
      rules: """
        {"rules": {
          ".write": true,
          "posts": {
            ".read": "auth.uid === 'bob'"
          },
          "$other": {".read": true}
        }}
        """,
      writes: false,
      told: ".read of /posts (line 4) at /posts: auth.uid === 'bob' → false"
    ),
    Refusal(
      testDescription: "write",
      rules: """
        {"rules": {
          ".read": true,
          "$other": {".write": true},
          "posts": {
            "$post": {".write": "auth.uid === 'bob' && newData.exists()"}
          }
        }}
        """,
      writes: true,
      told: ".write of /posts/$post (line 5)"
    ),
    Refusal(
      testDescription: "validate",
      rules: """
        {"rules": {
          ".read": true,
          ".write": true,
          "posts": {
            "$post": {
              ".validate": "newData.child('title').val() !== 'Secret'"
            }
          }
        }}
        """,
      writes: true,
      told: ".validate of /posts/$post (line 6)"
    ),
  ]

  @Test("The operator sees which rule refused and where it is", arguments: refusals)
  func owner(refusal: Refusal) async throws {
    let screen = try await screen(after: refusal) { server, _ in server }
    #expect(screen.contains(refusal.told), "\(screen)")
    #expect(screen.contains("→ false"), "\(screen)")
    #expect(!screen.contains("hearth rules explain"))
  }

  @Test("Other users see the path and how to ask, but no rule", arguments: refusals)
  func stranger(refusal: Refusal) async throws {
    let screen = try await screen(after: refusal) { _, port in port }
    #expect(screen.contains("Permission denied at /posts"), "\(screen)")
    #expect(screen.contains("\"hearth rules explain --as alice"), "\(screen)")
    for secret in ["line ", "→", "auth.uid", "Secret')", "!=="] {
      #expect(!screen.contains(secret), "\(secret) in \(screen)")
    }
  }

  /// The screen that names the refusal, with its lines joined.
  private func screen(
    after refusal: Refusal,
    at address: (_ socket: String, _ port: String) -> String
  ) async throws -> String {
    let directory = "/tmp/hearth-refusal-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var options = DatabaseServer.Options(port: 0)
    options.socketPath = directory + "/socket"
    options.namespace = "hearth"
    options.rules = .source(refusal.rules)
    options.localRules = try RuleSet(source: refusal.rules)
    let server = try await DatabaseServer.start(options)
    let port = try #require(server.port)
    let url = address("unix:\(directory)/socket?ns=hearth", "http://127.0.0.1:\(port)?ns=hearth")
    let text = try await App(url).text(typing: refusal.writes)
    await server.stop()
    return text
  }

  /// The app of alice on a terminal without a screen.
  @MainActor
  private struct App {
    private let database: Database
    private let terminal = ScriptTerminal(size: Size(width: 120, height: 30))
    private let program: Program<ScriptTerminal>
    private let wakes = DispatchSemaphore(value: 0)

    init(_ url: String) throws {
      var options = DatabaseOptions()
      options.readDeadline = nil
      let me = try Author(userName: "alice")
      let stars = StarMethod.automatic(at: url, for: me, &options)
      database = try Database(url: url, options: options)
      let blog = LiveBlog(
        database: database,
        name: "test",
        me: me,
        stars: stars,
        terminal: TerminalName(key: "test", text: "test")
      )
      program = Program(terminal: terminal, repository: blog, wake: { [wakes] in wakes.signal() })
    }

    /// The screen that says that permission is denied, after the keys for a post if one is typed.
    func text(typing: Bool) async throws -> String {
      program.begin()
      if typing {
        try await wait(for: "No posts yet")
        let keys: [KeyEvent] =
          [.character("c")] + "Secret".map { .character($0) } + [.tab, .character("x")]
          + [.control("s")]
        _ = program.turn(keys.map { .key($0) })
      }
      let text = try await wait(for: "Permission denied")
      await database.close()
      return text
    }

    @discardableResult
    private func wait(for text: String) async throws -> String {
      let deadline = ContinuousClock.now + .seconds(30)
      while ContinuousClock.now < deadline {
        _ = program.turn([.woken])
        if joined.contains(text) { return joined }
        doze()
        // What the database has called on this thread gets its turn.
        await Task.yield()
      }
      Issue.record("the screen does not say \(text): \(joined)")
      return joined
    }

    private func doze() { _ = wakes.wait(timeout: .now() + .milliseconds(20)) }

    private var joined: String {
      (terminal.screen?.text() ?? "").split { $0.isWhitespace || $0 == "│" }
        .joined(separator: " ")
    }
  }
}
