import Foundation
import RealtimeCore
import TestSupport
import Testing

@testable import HearthLab

@Suite("Client histories")
struct HistoryTests {
  private static let events: [HistoryEvent] = [
    .started(.make("a", presence: "a/t")),
    .invoked(1, .post(post: "p", title: "t", body: "b")),
    .invoked(2, .editPost(post: "p", title: "t", body: "b")),
    .invoked(3, .deletePost(post: "p")),
    .invoked(4, .comment(post: "p", comment: "c", text: "x\n\u{1B}[31m")),
    .invoked(5, .deleteComment(post: "p", comment: "c")),
    .invoked(6, .star(post: "p")),
    .invoked(7, .unstar(post: "p")),
    .invoked(8, .increment(path: "counters/x", amount: -3)),
    .invoked(9, .read(path: "counters/x")),
    .invoked(13, .read(path: "posts/p", server: "server1")),
    .invoked(10, .starAs(post: "p", uid: "b")),
    .invoked(11, .editOther(post: "p", title: "mine")),
    .invoked(12, .administer(paths: ["posts", "users/a"])),
    .answered(1, .ok(nil)),
    .answered(2, .ok(.object(("a", .integer(1))))),
    .answered(3, .refused("permission_denied")),
    .answered(4, .unknown("killed")),
    .shown(
      Showing(
        view: "recent",
        order: 1,
        content: .post("p", starCount: 2, stars: 2, isMine: true, version: "hash")
      )
    ),
    .shown(Showing(view: "recent", order: 2, content: .postGone("p"))),
    .shown(Showing(view: "c", order: 1, content: .comments(post: "p", keys: ["x", "y"]))),
    .connection(isUp: true),
    .finalView(
      FinalView(view: "top", path: "/posts", orderedBy: "starCount", limit: 3, digest: "d")
    ),
    .screen(
      CapturedScreen(
        terminal: "t1",
        group: "list",
        lines: ["one", "two"],
        rows: [CapturedScreen.Row(title: "t", stars: 2)]
      )
    ),
    .fault(name: "kill", target: "a", isOver: false),
    .server(.killed),
    .rules(source: "{\"rules\": {}}"),
    .sample(residentBytes: 1, descriptors: 2, p99Microseconds: 3),
    .told(Telling(view: "top", path: "/posts", content: .everything(limit: 100))),
    .told(Telling(view: "top", path: "/posts", content: .everything(limit: nil))),
    .told(Telling(view: "top", path: "/posts/a", content: .gone)),
    .told(Telling(view: "top", path: "/posts/a", content: .child(version: nil, changes: nil))),
    .told(
      Telling(
        view: "top",
        path: "/posts/a",
        content: .child(version: "h", changes: .object(("stars/a", .null)))
      )
    ),
    .stalled(microseconds: 4),
    .coalesced(microseconds: 5),
    .ended,
  ]

  @Test("encode each kind of event as one line and decode it again", arguments: events)
  func lines(event: HistoryEvent) throws {
    let line = HistoryLine(event, at: Moment(microseconds: 42))
    #expect(!line.text.contains("\n"))
    #expect(try HistoryLine(line.text) == line)
  }

  @Test("read back as written, with each invocation paired with its answer")
  func files() throws {
    let directory = try TemporaryDirectory()
    let writer = try HistoryWriter(path: "\(directory.path)/a.jsonl", header: .make("a"))
    writer.append(.invoked(1, .star(post: "p")))
    writer.append(.invoked(2, .star(post: "q")))
    writer.append(.answered(1, .ok(.integer(3))))
    writer.close()
    let history = try History(in: directory.path)
    let client = try #require(history.clients.first)
    #expect(client.operations.map(\.number) == [1, 2])
    #expect(client.operations[0].outcome == .ok(.integer(3)))
    #expect(client.operations[1].isUnknown)
    #expect(!client.hasEnded)
    #expect(client.lines.map(\.time) == client.lines.map(\.time).sorted())
  }

  @Test("ignore a torn line left by a killed process, even when another process appends")
  func torn() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/a.jsonl"
    try HistoryWriter(path: path, header: .make("a")).append(.invoked(1, .star(post: "p")))
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("{\"t\":5,\"k\":\"o".utf8))
    #expect(try ClientHistory(at: path).operations.count == 1)
    let next = try HistoryWriter(path: path, header: .make("a"))
    next.append(.answered(1, .ok(nil)))
    next.append(.ended)
    let client = try ClientHistory(at: path)
    #expect(client.lives == 2)
    #expect(client.operations.first?.isAcknowledged == true)
    #expect(client.hasEnded)
  }

  @Test("reject malformed lines, duplicate events and answers without an invocation")
  func broken() throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/a.jsonl"
    let header = HistoryLine(.started(.make("a")), at: Moment(microseconds: 1)).text
    let ended = HistoryLine(.ended, at: Moment(microseconds: 2)).text
    let answer = HistoryLine(.answered(1, .ok(nil)), at: Moment(microseconds: 2)).text
    let begin = HistoryLine(.invoked(1, .star(post: "p")), at: Moment(microseconds: 2)).text
    for lines in [
      [header, "{\"t\":1}", ended], [ended], [header, answer], [header, begin, answer, answer],
      [header, begin, begin],
    ] {
      try (lines.joined(separator: "\n") + "\n").write(
        toFile: path,
        atomically: true,
        encoding: .utf8
      )
      #expect(throws: HistoryError.self) { try ClientHistory(at: path) }
    }
  }

  @Test("name the first of several malformed lines", arguments: ["{\"t\":2}", "nonsense", "{}"])
  func malformed(second: String) throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/a.jsonl"
    let header = HistoryLine(.started(.make("a")), at: Moment(microseconds: 1)).text
    let first = "{\"t\":\"soon\"}"
    let alone = #expect(throws: HistoryError.self) { try HistoryLine(first) }
    try "\(header)\n\(first)\n\(second)\n".write(toFile: path, atomically: true, encoding: .utf8)
    let error = #expect(throws: HistoryError.self) { try ClientHistory(at: path) }
    #expect(try error?.description == "\(path), line 2: \(#require(alone))")
  }
}
