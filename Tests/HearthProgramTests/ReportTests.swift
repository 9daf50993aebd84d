import BlogModel
import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import BlogTUI
@testable import HearthProgram

@Suite("Reports", .timeLimit(.minutes(1)))
struct ReportTests {
  /// Texts that people must not pass on by mistake; each contains `hunter2` in its secret alone.
  static let hostile = [
    "postgres://blog:hunter2@db.example.org/blog",
    "https://hunter2@example.org/x",
    "postgres://blog:hun/hunter2@x@db.example.org",
    "http://127.0.0.1:9000/posts.json?auth=hunter2&print=pretty",
    "http://127.0.0.1:9000/?ns=x&AUTH=hunter2",
    "https://x.example/?access_token=hunter2#top",
    "https://x.example/v1/accounts:signUp?key=hunter2",
    "https://x.example/callback?code=hunter2",
    "password=hunter2", "Password: hunter2", "passwd = 'hunter2 hunter2'",
    "PGPASSWORD=hunter2 psql", "PASSWORD=\"hunter2 \\\" hunter2\"",
    "HEARTH_API_KEY=hunter2", "api-key: hunter2", "hearth list --api-key hunter2",
    "hearth sign-in --password hunter2", "client_secret=hunter2", "aws_secret_access_key=hunter2",
    "Authorization: Bearer hunter2", "authorization: Basic hunter2==", "Bearer hunter2.hunter2",
    "Cookie: a=hunter2; b=hunter2", "Set-Cookie: s=hunter2; Path=/",
    #"{"idToken":"hunter2","refreshToken":"hunter2"}"#, #"{"cred" : "hunter2"}"#,
    #"{"t":"d","d":{"r":1,"a":"auth","b":{"cred":"hunter2"}}}"#,
    #"{\"password\":\"hunter2\"}"#, #"{"refresh_token":"hunter2"#, "{'token': 'hunter2'}",
    "refresh_token=hunter2&grant_type=refresh_token",
    "eyJhbGciOiJhunter2.eyJzdWIiOihunter2.hunter2-_",
    "AIzaSyhunter2hunter2hunter2hunter2hunter2",
    "-----BEGIN PRIVATE KEY-----\nhunter2\nhunter2\n-----END PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nhunter2",
    "credentials: hunter2", "session_id=hunter2", "the literal key hunter2known",
  ]

  @Test("A secret is left out of plain text, JSON and JSON in JSON", arguments: hostile)
  func secret(text: String) throws {
    let secrets = try Secrets(known: ["hunter2known"])
    let plain = secrets.leftOut(of: "before \(text) after")
    #expect(!plain.contains("hunter2"))
    #expect(plain.hasPrefix("before "))
    let inner = JSONValue.object(("detail", .string(text))).text
    let line = JSONValue.object(("a", .array([.string(text)])), ("b", .string(inner))).text
    let lines = secrets.leftOut(ofJSONLines: line + "\n" + line + "\n")
    #expect(!lines.contains("hunter2"))
    for line in lines.split(separator: "\n") { _ = try JSONParser.parse(Array(line.utf8)) }
  }

  @Test("A member named like a secret is left out, whatever its value")
  func members() throws {
    let secrets = try Secrets()
    let line = #"{"password":"a b, c","apiKey":"","author":"ann","key":"j","n":1}"#
    #expect(
      secrets.leftOut(ofJSONLines: line)
        == #"{"password":"(left out)","apiKey":"(left out)","author":"ann","key":"j","n":1}"# + "\n"
    )
  }

  @Test(
    "Text without secrets stays as it is",
    arguments: [
      "http://127.0.0.1:9000?ns=hearth", "unix:/run/user/0/hearth.sock?ns=hearth", "author: ann",
      "the keynote is at 9", "mouse = true  # default", "#7 update /posts, after 3 ms",
    ]
  )
  func harmless(text: String) throws {
    #expect(try Secrets().leftOut(of: text) == text)
  }

  @Test("Long texts take linear time", .timeLimit(.minutes(1)))
  func long() throws {
    let secrets = try Secrets()
    for unit in ["a", "token", "://", "eyJ", "key-", "\"", "--", "cookie:"] {
      let text = "token " + String(repeating: unit, count: 200_000 / unit.count)
      _ = secrets.leftOut(of: text)
    }
  }
}

extension ReportTests {
  @MainActor
  private func reporter(in directory: TemporaryDirectory) throws -> Reporter {
    Reporter(
      paths: try ProgramPaths(
        dataDirectory: directory.path + "/data",
        socket: nil,
        isEphemeral: false
      )
    )
  }

  @MainActor
  private static func recorded(_ events: [Event]) -> (recent: RecentRecording, model: Model) {
    var recent = RecentRecording()
    let start = RecordingStart(
      me: Author(uid: "ann", name: "ann"),
      databaseName: "local",
      size: Size(width: 80, height: 24),
      now: 1_700_000_000_000
    )
    var model = Model(start)
    for event in events { _ = update(&model, with: event) }
    recent.add([.start(start)] + events.map(RecordingEntry.event), after: model)
    return (recent, model)
  }

  @Test("A report of the app has all sections and no secrets, and its recording is replayed")
  @MainActor
  func app() throws {
    let directory = try TemporaryDirectory()
    let reporter = try reporter(in: directory)
    let post = Post(
      id: "p1",
      uid: "bob",
      author: "bob",
      title: "== recording ==",
      body: "my password=hunter2"
    )
    let (recent, model) = Self.recorded([
      .started, .blog(.connection(.online)), .blog(.feed(.recent, posts: [post])),
      .command("search token=hunter2"), .key(.escape),
    ])
    let wire = WireEvent(
      time: 1,
      kind: .received,
      title: #"{"t":"d","d":{"r":1,"b":{"s":"ok","d":{"idToken":"hunter2"}}}}"#
    )
    let path = try reporter.report(on: model, recording: recent.text, wire: [wire], to: "").get()
    #expect(path == directory.path + "/data/report.txt")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains("hunter2"))
    for section in ["versions", "terminal", "settings", "doctor", "screen", "wire", "recording"] {
      #expect(text.contains("\n== \(section) ==\n"), "\(section)")
    }
    #expect(text.contains("size: 80x24"))
    var replay = Replay(try Recording(Array(text.utf8)))
    replay.move(to: replay.count)
    #expect(replay.screen.text().contains("== recording =="))
    #expect(replay.count == 5)
  }

  @Test("A report never replaces a file, and one without a recording says so when replayed")
  @MainActor
  func files() throws {
    let directory = try TemporaryDirectory()
    let reporter = try reporter(in: directory)
    #expect(try reporter.report(to: nil, database: nil).hasSuffix("/report.txt"))
    #expect(try reporter.report(to: nil, database: nil).hasSuffix("/report-2.txt"))
    let mine = directory.path + "/mine"
    try "mine".write(toFile: mine, atomically: true, encoding: .utf8)
    let link = directory.path + "/link"
    symlink(directory.path + "/elsewhere", link)
    for path in [mine, link] {
      let failure = #expect(throws: CommandFailure.self) {
        try reporter.report(to: path, database: nil)
      }
      #expect(failure?.status == .conflict)
    }
    #expect(try String(contentsOfFile: mine, encoding: .utf8) == "mine")
    #expect(access(directory.path + "/elsewhere", F_OK) != 0)
    let report = try Data(contentsOf: URL(fileURLWithPath: directory.path + "/data/report.txt"))
    let error = #expect(throws: RecordingError.self) { try Recording(Array(report)) }
    #expect(error?.reason.contains("no recording") == true)
  }
}
