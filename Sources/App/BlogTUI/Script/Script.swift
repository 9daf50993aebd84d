/// A scripted session of one or several users: one file serves as a test, a demonstration and a bug report.
package struct Script: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    case keys([KeyEvent])
    case command(String)
    case size(Size)
    /// Let that much time pass, in milliseconds.
    case pause(Int64)
    /// Let that much time pass at once, in milliseconds, without a pause for a spectator.
    case clock(Int64)
    /// Wait until the screen shows the text.
    case waitFor(String)
    /// Wait until everything is acknowledged and quiet.
    case waitIdle
    /// Fail unless the screen shows the text.
    case expect(String)
    /// Fail if the screen shows the text.
    case refuse(String)
    /// Fail unless the server holds that JSON at the path; or wait until it does.
    case data(String, json: String, waits: Bool)
    /// Let another user do something.
    case other(String, Act)
    /// Change the terminals, the server or the network.
    case change(Change)
  }

  package struct Line: Hashable, Sendable {
    /// The line, counted from 1.
    package let number: Int
    package let step: Step
    /// The line as it was written, without the blanks before it.
    package let text: String
  }

  /// Why a script cannot be run, or why it has failed.
  package struct Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1.
    package let line: Int
    package let reason: String

    package init(line: Int, reason: String) {
      self.line = line
      self.reason = reason
    }

    package var description: String { "line \(line): \(reason)" }
  }

  package let lines: [Line]

  /// Parses a script.
  ///
  /// - Throws: ``Failure`` for the first invalid line.
  package init(_ text: String) throws(Failure) {
    var lines: [Line] = []
    for (index, line) in Self.split(text).enumerated() {
      guard let first = line.first(where: { $0 != " " }), first != "#" else { continue }
      let text = String(line.drop { $0 == " " })
      let step = try Self.step(text, number: index + 1)
      lines.append(Line(number: index + 1, step: step, text: text))
    }
    self.lines = lines
  }

  /// The lines of a file, which may begin with a byte order mark and have the line ends of Windows.
  package static func split(_ text: String) -> [Substring] {
    let start = text.unicodeScalars.first == "\u{FEFF}" ? 1 : 0
    return Substring(text.unicodeScalars.dropFirst(start))
      .split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
  }

  private static func step(_ line: String, number: Int) throws(Failure) -> Step {
    if line.hasPrefix(":") {
      let command = String(line.dropFirst())
      return command == Command.waitIdle ? .waitIdle : .command(command)
    }
    let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = parts.count > 1 ? parts[1] : ""
    guard !rest.isEmpty || !["type", "wait-for", "expect", "refuse"].contains(parts[0]) else {
      throw Failure(line: number, reason: "\"\(parts[0])\" needs a text")
    }
    switch parts[0] {
    case "type": return .keys(unescaped(rest).map { $0 == "\n" ? .enter : .character($0) })
    case "paste": return .keys([.paste(unescaped(rest))])
    case "key":
      let names = rest.split(separator: " ").map(String.init)
      if names.isEmpty { throw Failure(line: number, reason: "\"key\" needs the name of a key") }
      let keys = names.map { KeyEvent(description: $0) }
      if let bad = zip(names, keys).first(where: { $0.1 == nil })?.0 {
        throw Failure(line: number, reason: "\"\(bad)\" is not a key")
      }
      return .keys(keys.compactMap(\.self))
    case "size":
      let numbers = rest.split(separator: "x").compactMap { Int($0) }
      guard numbers.count == 2, numbers.allSatisfy({ (1...1_000).contains($0) }) else {
        throw Failure(line: number, reason: "write a size like 80x24")
      }
      return .size(Size(width: numbers[0], height: numbers[1]))
    case "pause":
      guard let time = Int64(rest), time >= 0 else {
        throw Failure(line: number, reason: "a pause is a number of milliseconds")
      }
      return .pause(time)
    case "clock":
      guard let time = duration(rest) else {
        throw Failure(line: number, reason: "write a time like 90s, 5m, 3h or 2d")
      }
      return .clock(time)
    case "expect-data", "wait-for-data":
      let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, words[0].hasPrefix("/") else {
        throw Failure(
          line: number,
          reason: "\"\(parts[0])\" needs a path and JSON, like /users/ann/username \"Ann\""
        )
      }
      return .data(words[0], json: words[1], waits: parts[0] == "wait-for-data")
    case "terminal", "kill", "start", "cut", "slow", "mend":
      guard let change = Change(parts[0], rest.split(separator: " ").map(String.init)) else {
        throw Failure(line: number, reason: Change.usage)
      }
      return .change(change)
    case "wait-for": return .waitFor(rest)
    case "expect": return .expect(rest)
    case "refuse": return .refuse(rest)
    case "as":
      let words = rest.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let act = Act(words[1]) else {
        throw Failure(line: number, reason: "\"as\" needs a name and a known step, not \"\(rest)\"")
      }
      return .other(words[0], act)
    default: throw Failure(line: number, reason: "there is no step \"\(parts[0])\"")
    }
  }

  /// Parses a number of seconds, minutes, hours or days, such as `3h`; the result is in milliseconds.
  private static func duration(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
      (0...100_000).contains(count)
    else { return nil }
    return count * unit
  }

  /// Replaces `\n` by a line break and `\\` by a backslash.
  fileprivate static func unescaped(_ text: String) -> String {
    var result = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      guard character == "\\", let next = rest.popFirst() else {
        result.append(character)
        continue
      }
      result.append(next == "n" ? "\n" : next)
    }
    return result
  }
}

extension Script {
  /// An act of another user, who has a connection of their own.
  package enum Act: Hashable, Sendable {
    /// Goes online.
    case join
    /// Goes offline.
    case leave
    case post(title: String, body: String)
    case comment(title: String, text: String)
    /// Stars (true) or unstars (false) the post with that title.
    case star(title: String, Bool)
    case delete(title: String)
    /// Starts writing a comment on the post with that title.
    case type(title: String)

    /// The title of the post that has to exist; nil if none is needed.
    package var subject: String? {
      switch self {
      case .join, .leave, .post: nil
      case .comment(let title, _), .star(let title, _), .delete(let title), .type(let title): title
      }
    }

    /// Parses the text after the user's name; nil if it is not an act.
    init?(_ text: String) {
      let words = text.split(separator: " ", maxSplits: 1).map(String.init)
      let rest = words.count > 1 ? words[1] : ""
      let parts = rest.split(separator: "|", maxSplits: 1).map { String($0).trimmingBlanks }
      switch (words.first, parts.count) {
      case ("join", 0): self = .join
      case ("leave", 0): self = .leave
      case ("post", 2): self = .post(title: parts[0], body: Script.unescaped(parts[1]))
      case ("comment", 2): self = .comment(title: parts[0], text: Script.unescaped(parts[1]))
      case ("star", 1): self = .star(title: parts[0], true)
      case ("unstar", 1): self = .star(title: parts[0], false)
      case ("delete", 1): self = .delete(title: parts[0])
      case ("type", 1): self = .type(title: parts[0])
      default: return nil
      }
    }
  }

  package enum Change: Hashable, Sendable {
    /// Uses the terminal of that name from here on, and starts it if it does not run; a new one
    /// belongs to the user of the same name unless another is given.
    case terminal(String, user: String?)
    /// Ends the terminal in use without a goodbye.
    case killTerminal
    /// Ends the server without a goodbye; what it has acknowledged stays.
    case killServer
    case startServer
    /// Cuts, slows or mends the way from the terminal in use to the server.
    case network(Network)

    /// The way from a terminal to the server.
    package enum Network: Hashable, Sendable {
      /// Nothing gets through.
      case cut
      /// Everything takes that many milliseconds longer, in each direction.
      case slow(Int64)
    }

    /// The longest delay of a slow network, in milliseconds: a step waits half a minute at most.
    private static let longestDelay: Int64 = 10_000

    fileprivate static let usage =
      "write terminal NAME, terminal NAME of USER, kill terminal, kill server, start server, "
      + "cut network, slow network N (milliseconds up to \(longestDelay)) or mend network"

    /// Parses a step; nil if it is not a change.
    fileprivate init?(_ verb: String, _ words: [String]) {
      switch (verb, words.first, words.count) {
      case ("terminal", let name?, 1): self = .terminal(name, user: nil)
      case ("terminal", let name?, 3) where words[1] == "of":
        self = .terminal(name, user: words[2])
      case ("kill", "terminal", 1): self = .killTerminal
      case ("kill", "server", 1): self = .killServer
      case ("start", "server", 1): self = .startServer
      case ("cut", "network", 1): self = .network(.cut)
      case ("mend", "network", 1): self = .network(.slow(0))
      case ("slow", "network", 2):
        guard let delay = Int64(words[1]), (0...Self.longestDelay).contains(delay) else {
          return nil
        }
        self = .network(.slow(delay))
      default: return nil
      }
    }
  }

  /// The progress of another user's act.
  package enum Progress: Hashable, Sendable {
    case underWay
    /// Done, and stored by the database if it is a write.
    case done
    case refused(String)
  }
}
