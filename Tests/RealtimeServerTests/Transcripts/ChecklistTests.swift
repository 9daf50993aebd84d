import Testing

/// The checklist for servers at the end of the protocol's description, with the scenes that prove
/// each line.
@Suite("The server checklist")
struct ChecklistTests {
  struct Entry: CustomTestStringConvertible {
    let testDescription: String
    /// The file of each scene, and the beginning of its title.
    var scenes: [(file: String, title: String)] = []
  }

  /// The lines of the checklist, and below each the scenes that prove it.
  private static let checklist = """
    Upgrade on /.ws; hello first with all four fields; unique 32-char session id; track ls
      connection: §1.2 the upgrade succeeds at /.ws, and the first message is the
      connection: §1.4 every connection has its own session
      connection: §1.2 a connection that names its last session ends that session
    Parse frames: text, count header, 0; tolerate large frames; pongs
      connection: §1.3 a segmented message is reassembled
      connection: §1.3 a message may be announced as one segment
      connection: §1.3 a keepalive is not answered and is not a segment count
      connection: §1.3 a long message in a single frame is accepted
      connection: §1.3 binary frames are ignored
      connection: §1.4 every ping is answered with a pong
      connection: §1.3 WebSocket pings are answered with the same payload
    One response per r; path normalisation; validation of keys, paths, depth
      messages: §2 a response has the number of its request, even if that is 0
      messages: §2.1 unknown and obsolete actions are answered
      messages: §2 an incomplete request is answered, and so is the next one
      messages: §2.1 slashes in a path may be missing or doubled, and a path
      values: §4.4 invalid keys and data are refused
      values: §4.4 a key has at most 768 bytes, and data at most 32 levels
      rest: §9.5 a body that is not valid data
      rest: §9.1 invalid escapes and keys are refused
    Serialise all writes: consistent datastale, update atomicity, order on a connection
      messages: §2.4.3 the writes of others arrive in the order in which they
      messages: §2.4.4 the current data precedes datastale
      messages: §2.4.7 an update is pushed once to each listen, with its part
      streams: §9.4 streams and WebSockets get the same writes in the same
    For each connection: credentials, listens by path and tag, what is scheduled for its end
      auth: §2.1 auth: an unsigned token is accepted, even if it has
      queries: §3.2 two queries at one path are two listens, each with its tag
      queries: §3.2 the default listen replaces a tagged one, and the other
      endings: §8.1 o replaces the writes scheduled at and below its path
    For each commit: push to every connection with overlapping listens, the writer's included
      messages: §2.4.2 the writer's own push precedes the response to its write
      messages: §2.4 a write above a listen is pushed to it, with its part of
      messages: §2.4 a write that changes nothing is acknowledged and not
      messages: §2.4 a write elsewhere is not pushed
    Tagged windows: diff old and new, null for leavers; a deep change at its place
      queries: §2.4 a window gets entering children whole and leaving ones as
      queries: §14 a window is refilled after a removal
      queries: §2.4 a change inside a window is pushed at its own path
      queries: §2.4 a window is empty while its location is a leaf, and
    After a change of credentials or rules check listens again, push c; after n forget
      auth: §2.6 signing out ends the listens that are no longer allowed,
      auth: §2.6 new rules end the listens that they forbid
      messages: §2.1 n: no events follow it
    What is scheduled is carried out on any end
      endings: §8.1 scheduled writes are applied when the connection is closed
      endings: §8.1 scheduled writes are applied when the connection is lost
      connection: §1.2 a connection that names its last session ends that session
      endings: §8.1 scheduled writes are applied once after a crash
      endings: §8.1 scheduled writes are applied once when the server stops
    REST and event streams share the same data; a stream is like an untagged listen
      streams: §9.4 a write is sent as a put at its path
      streams: §9.4 a stream may be a query
      streams: §9.4 streams and WebSockets get the same writes in the same
    """

  static let entries: [Entry] = checklist.split(separator: "\n").reduce(into: []) { entries, line in
    guard let scene = line.wholeMatch(of: #/  ([\w-]+): (.*)/#) else {
      return entries.append(Entry(testDescription: String(line)))
    }
    entries[entries.count - 1].scenes.append((String(scene.1), String(scene.2)))
  }

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
      "auth", "limits", "accounts", "polling", "clusters",
    ] {
      #expect(Scene.all(file).count >= 8, "\(file).txt")
    }
  }
}
