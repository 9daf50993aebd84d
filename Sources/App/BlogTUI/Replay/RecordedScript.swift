import BlogModel

/// A script that does again what a recording shows: what was done by hand becomes a test.
///
/// The script has a blog of its own. So the posts, comments and stars of others are written by
/// other users of the script, as they came. What was never shown is missing, and what others
/// deleted stays.
package struct RecordedScript {
  /// A gap in the recording from which on the script lets time pass, in milliseconds.
  private static let gap: Int64 = 1_000
  private static let mostExpectations = 8
  /// The fewest letters of an expectation; fewer would be found anywhere.
  private static let fewestLetters = 6

  package private(set) var lines: [String] = []
  private let me: Author
  private var typed = ""
  private var keys: [String] = []
  private var lastTime: Int64
  /// The posts that the script has, as they were seen last.
  private var posts: [PostID: Post] = [:]
  private var comments: Set<String> = []
  private var names: [String: String] = [:]

  /// Reads a recording to its end.
  ///
  /// - Complexity: O(events · posts of a list)
  package init(_ recording: Recording) {
    let start = recording.start
    me = start.me
    lastTime = start.now
    names[me.uid] = me.name
    lines.append("# From a recording of \(SafeText(untrusted: start.databaseName).string).")
    lines.append("size \(start.size.width)x\(start.size.height)")
    // Others come to an app that has begun, as they do to those who look on.
    waitUntilIdle()
    for step in recording.steps {
      if let time = step.time { pass(to: time) }
      switch step.entry {
      case .event(let event)?: add(event)
      case .start?: note("the program was started again here, which is left out")
      case nil: break
      }
    }
    flush()
    waitUntilIdle()
    var replay = Replay(recording)
    replay.move(to: replay.count)
    for text in Self.expectations(on: replay.screen) { lines.append("expect \(text)") }
  }

  private mutating func pass(to time: Int64) {
    // Clocks of recordings may leap; a script waits no longer than a day at once.
    let passed = min(max(0, time &- lastTime), 86_400_000)
    guard passed >= Self.gap else { return }
    lastTime = time
    flush()
    lines.append("pause \(passed)")
  }

  private mutating func add(_ event: Event) {
    switch event {
    case .key(let key): add(key)
    case .command(let text):
      flush()
      lines.append(":\(text)")
    case .blog(let event): add(event)
    case .edited, .editedText: note("an editor returned a text here, which a script cannot do")
    case .commandEnded: note("a command of the shell ended here")
    case .started, .tick, .posted, .commented, .resumed, .kept, .succeeded, .failed, .configured,
      .wire:
      break
    }
  }

  // MARK: The user

  private mutating func add(_ key: KeyEvent) {
    switch key {
    case .character(let character):
      if !keys.isEmpty { flush() }
      typed.append(character)
    case .paste(let text):
      flush()
      lines.append("paste \(Self.escaped(text))")
    case .resize(let size):
      flush()
      lines.append("size \(size.width)x\(size.height)")
    case .mouse(let event):
      // A click is a press and a release.
      guard event.kind != .release else { return }
      let place = "column \(event.position.column &+ 1), row \(event.position.row &+ 1)"
      note("the mouse was used at \(place), which a script cannot do")
    case _:
      if !typed.isEmpty { flush() }
      let name = key.description
      if KeyEvent(description: name) == key {
        keys.append(name)
      } else {
        note("a key without a name")
      }
    }
  }

  /// Writes what was typed or pressed since the last line.
  private mutating func flush() {
    if !typed.isEmpty { lines.append("type \(Self.escaped(typed))") }
    if !keys.isEmpty { lines.append("key \(keys.joined(separator: " "))") }
    typed = ""
    keys = []
  }

  private mutating func note(_ text: String) {
    flush()
    lines.append("# \(text)")
  }

  private mutating func waitUntilIdle() {
    if lines.last != ":wait-idle" { lines.append(":wait-idle") }
  }

  // MARK: Others

  private mutating func add(_ event: BlogEvent) {
    switch event {
    case .feed(_, let all): add(all)
    case .post(_, let post?): add([post])
    case .comments(let id, let all), .latestComments(let id, let all): add(all, on: id)
    case .succeeded, .failed:
      flush()
      waitUntilIdle()
    case .people(let people):
      for presence in people { names[presence.person.uid] = presence.person.name }
    case .connection(.offline): note("the connection was lost here")
    case .post, .postFailed, .extent, .found, .feedFailed, .hasEarlierComments, .typing, .readState,
      .markAnswered, .markRefused, .notice, .notices, .ownLists, .named, .unnamed, .reading,
      .renamed, .roundTrip,
      .connection, .connectionProblem, .silence, .pendingWrites:
      break
    }
  }

  private mutating func add(_ all: [Post]) {
    var acts: [String] = []
    for post in all.sorted(by: { $0.createdAt ?? 0 < $1.createdAt ?? 0 }) {
      names[post.uid] = post.author
      let known = posts.updateValue(post, forKey: post.id)
      // A title with a bar, or of two lines, cannot be written by somebody else of a script.
      guard Self.isTitle(post.title) else { continue }
      if known == nil, post.uid != me.uid {
        acts.append("as \(post.author) post \(post.title) | \(Self.escaped(post.body))")
      }
      for uid in post.stars.subtracting(known?.stars ?? []).sorted() where uid != me.uid {
        acts.append(names[uid].map { "as \($0) star \(post.title)" } ?? "# somebody gave a star")
      }
      for uid in (known?.stars ?? []).subtracting(post.stars).sorted() where uid != me.uid {
        acts.append(names[uid].map { "as \($0) unstar \(post.title)" } ?? "# somebody took a star")
      }
    }
    others(acts)
  }

  private mutating func add(_ all: [Comment], on id: PostID) {
    var acts: [String] = []
    for comment in all where comments.insert(comment.id).inserted && comment.uid != me.uid {
      names[comment.uid] = comment.author
      guard let title = posts[id]?.title, Self.isTitle(title) else { continue }
      acts.append("as \(comment.author) comment \(title) | \(Self.escaped(comment.text))")
    }
    others(acts)
  }

  private mutating func others(_ acts: [String]) {
    guard !acts.isEmpty else { return }
    flush()
    lines += acts
    waitUntilIdle()
  }

  private static func isTitle(_ text: String) -> Bool {
    !text.contains { $0 == "|" || $0.isNewline } && text == text.trimmingBlanks && !text.isEmpty
  }

  // MARK: Text

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing("\r\n", with: "\\n")
      .replacing("\n", with: "\\n").replacing("\r", with: "\\n")
  }

  /// Words of the screen that stay the same when the script is played: without numbers and times.
  private static func expectations(on screen: Screen) -> [String] {
    // The first row has the lists, the last two have hints and the state of the connection.
    let rows = screen.text().split(separator: "\n").dropFirst().dropLast(2)
    var found: [String] = []
    for row in rows {
      let parts = row.replacing("│", with: "  ").replacing("▌", with: "  ").split(separator: "  ")
      for cell in parts where found.count < mostExpectations {
        // Marks change, and what is cut off depends on the width.
        let text = cell.prefix { $0 != "…" }.drop { !$0.isLetter && !$0.isNumber }
        let part = String(text).trimmingBlanks
        let isStable = !part.contains(where: \.isNumber) && !part.contains("now")
        guard isStable, part.count(where: \.isLetter) >= fewestLetters, !found.contains(part) else {
          continue
        }
        found.append(part)
      }
    }
    return found
  }
}
