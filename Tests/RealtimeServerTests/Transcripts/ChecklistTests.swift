import Testing

/// The checklist for servers at the end of the protocol's description, with the scenes that prove
/// each line.
@Suite("The server checklist")
struct ChecklistTests {
  struct Entry: Sendable, CustomTestStringConvertible {
    let line: String
    /// The beginning of a scene's title, after the name of its file.
    let scenes: [(file: String, title: String)]

    init(_ line: String, _ scenes: (file: String, title: String)...) {
      self.line = line
      self.scenes = scenes
    }

    var testDescription: String { line }
  }

  static let entries: [Entry] = [
    Entry(
      "Upgrade on /.ws; hello first with all four fields; unique 32-char session id; track ls",
      ("connection", "§1.2 the upgrade is answered at /.ws, and the greeting is the first"),
      ("connection", "§1.4 every connection has a session of its own"),
      ("connection", "§1.2 a reconnection that names its last session retires that one")
    ),
    Entry(
      "Parse frames: text, count header, 0; tolerate large frames; pongs",
      ("connection", "§1.3 a message that comes in segments is put together"),
      ("connection", "§1.3 a count of one followed by a whole message is legal"),
      ("connection", "§1.3 a sign of life gets no answer"),
      ("connection", "§1.3 a long frame that is not cut is taken as well"),
      ("connection", "§1.3 binary frames are ignored"),
      ("connection", "§1.4 a ping is answered by a pong"),
      ("connection", "§1.3 pings of the WebSocket are answered")
    ),
    Entry(
      "One response per r; path normalisation; validation of keys, paths, depth",
      ("messages", "§2 the number of a request comes back"),
      ("messages", "§2.1 an action that nobody knows is answered"),
      ("messages", "§2 a request without what it needs is answered"),
      ("messages", "§2.1 paths may begin with a slash, without one"),
      ("values", "§4.4 keys and data that are not legal are refused"),
      ("values", "§4.4 a key of 768 bytes is legal, one of 769 is not"),
      ("rest", "§9.5 a body that is not valid data"),
      ("rest", "§9.1 invalid escapes and keys are refused")
    ),
    Entry(
      "Serialise all writes: consistent datastale, update atomicity, order on a connection",
      ("messages", "§2.4.3 what others write comes in the order"),
      ("messages", "§2.4.4 the fresh data come before datastale"),
      ("messages", "§2.4.7 a merge gives each listen one push"),
      ("streams", "§9.4 a stream and a WebSocket see the same writes in one order")
    ),
    Entry(
      "For each connection: credentials, listens by path and tag, what is scheduled for its end",
      ("auth", "§2.1 auth: an unsigned token makes a user"),
      ("queries", "§3.2 two queries of one place are two listens"),
      ("queries", "§3.2 the default listen takes over from a tagged one"),
      ("endings", "§8.1 o replaces what was scheduled at and below")
    ),
    Entry(
      "For each commit: push to every connection with overlapping listens, the writer's included",
      ("messages", "§2.4.2 the writer's own push comes before the answer"),
      ("messages", "§2.4 a write above a listen reaches it"),
      ("messages", "§2.4 a write that changes nothing"),
      ("messages", "§2.4 a write beside a listen reaches it not")
    ),
    Entry(
      "Tagged windows: diff old and new, null for leavers; a deep change at its place",
      ("queries", "§2.4 a window: what enters comes whole"),
      ("queries", "§14 a window is filled up again after a removal"),
      ("queries", "§2.4 a change within a window comes at its place"),
      ("queries", "§2.4 a window whose place becomes a leaf")
    ),
    Entry(
      "After a change of credentials or rules check listens again, push c; after n forget",
      ("auth", "§2.6 signing out ends the listens that are denied"),
      ("auth", "§2.6 a change of the rules ends the listens"),
      ("messages", "§2.1 n: after it nothing comes any more")
    ),
    Entry(
      "What is scheduled is carried out on any end",
      ("endings", "§8.1 what is scheduled is carried out when the connection says goodbye"),
      ("endings", "§8.1 and when it is lost"),
      ("connection", "§1.2 a reconnection that names its last session"),
      ("endings", "§8.1 what was scheduled before the server died"),
      ("endings", "§8.1 and once when it stops in good order")
    ),
    Entry(
      "REST and event streams share the same data; a stream is like an untagged listen",
      ("streams", "§9.4 a write comes as a put at its place"),
      ("streams", "§9.4 a stream may be a query"),
      ("streams", "§9.4 a stream and a WebSocket see the same writes")
    ),
  ]

  @Test("is proven line by line", arguments: entries)
  func line(entry: Entry) {
    #expect(!entry.scenes.isEmpty)
    for (file, title) in entry.scenes {
      let matching = Scene.all(file).filter { $0.title.hasPrefix(title) }
      #expect(matching.count == 1, "\(file).txt has \(matching.count) scenes \"\(title)\"")
    }
  }

  @Test("has at least eight scenes in every file")
  func files() {
    for file in [
      "connection", "messages", "queries", "values", "endings", "rest", "rest-rules", "streams",
      "auth", "limits",
    ] {
      #expect(Scene.all(file).count >= 8, "\(file).txt")
    }
  }
}
