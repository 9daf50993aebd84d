import Foundation
import HearthLab

/// The program under test, on a terminal whose other end the benchmark holds.
final class TerminalProgram {
  /// How long the output is silent once a change is complete.
  private static let pause = Duration.milliseconds(3)

  private let controller: Int32
  let id: pid_t
  /// Where it runs, until it has ended.
  let home: TerminalHome?
  private(set) var output: [UInt8] = []

  init(
    _ path: String,
    arguments: [String],
    environment: [String: String],
    in home: TerminalHome? = nil
  ) throws {
    self.home = home
    var ends: (controller: Int32, terminal: Int32) = (-1, -1)
    guard openpty(&ends.controller, &ends.terminal, nil, nil, nil) == 0,
      let name = ttyname(ends.terminal)
    else { throw LoadError("no terminal can be made") }
    controller = ends.controller
    defer { close(ends.terminal) }
    var size = winsize(ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
    _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    do {
      id = try Launch.start(
        [path] + arguments,
        environment: environment,
        terminal: String(cString: name)
      )
    } catch {
      close(controller)
      throw LoadError("\(path) cannot be started")
    }
  }

  deinit {
    kill(id, SIGKILL)
    var status: Int32 = 0
    waitpid(id, &status, 0)
    close(controller)
  }

  func type(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(controller, bytes, bytes.count)
  }

  /// Discards the output so far.
  func forget() {
    output = []
  }

  /// Reads until the output contains a text, for at most ten seconds.
  func wait(for text: String) throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while !contains(text) {
      guard ContinuousClock.now < deadline, read(for: .milliseconds(100)) else {
        throw LoadError("\"\(text)\" did not appear")
      }
    }
  }

  /// How long the program takes to write its response to a key.
  struct Paint {
    /// The time until the first byte arrives.
    var first: Duration
    /// The time until nothing more arrives, whatever caused it.
    var last: Duration
  }

  /// Types a key and measures how long it takes until the resulting changes are written.
  ///
  /// Earlier output is read first, so that it does not count.
  ///
  /// - Throws: ``LoadError`` when nothing is written.
  func paint(after key: String) throws -> Paint {
    read(for: .zero)
    forget()
    let start = ContinuousClock.now
    type(key)
    var paint: Paint?
    var count = 0
    while ContinuousClock.now - start < (paint?.last).map({ $0 + Self.pause }) ?? .seconds(5) {
      read(for: Self.pause)
      guard output.count > count else { continue }
      count = output.count
      let time = ContinuousClock.now - start
      paint = Paint(first: paint?.first ?? time, last: time)
    }
    guard let paint else { throw LoadError("the key \"\(key)\" changed nothing") }
    return paint
  }

  /// Types a letter that occurs nowhere else on the screen, and measures how long it takes until it
  /// is written.
  func echo(of letter: Character) throws -> Duration {
    read(for: .zero)
    forget()
    let start = ContinuousClock.now
    type(String(letter))
    while !output.contains(where: { $0 == letter.asciiValue }) {
      guard ContinuousClock.now - start < .seconds(5), read(for: .milliseconds(100)) else {
        throw LoadError("the letter \(letter) was not written")
      }
    }
    return ContinuousClock.now - start
  }

  /// Reads until nothing has arrived for a while.
  func settle() {
    var count = -1
    while count != output.count {
      count = output.count
      read(for: .milliseconds(300))
    }
  }

  /// Reads whatever arrives until a time has passed.
  func rest(for time: Duration) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end, read(for: end - ContinuousClock.now) {}
  }

  /// Reads what arrives within a time; false when nothing more can arrive.
  @discardableResult
  func read(for time: Duration) -> Bool {
    var descriptor = pollfd(fd: controller, events: Int16(POLLIN), revents: 0)
    let (seconds, attoseconds) = time.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    guard poll(&descriptor, 1, Int32(milliseconds)) > 0 else { return true }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = Foundation.read(controller, &buffer, buffer.count)
    guard count > 0 else { return false }
    output += buffer[..<count]
    return true
  }

  private func contains(_ text: String) -> Bool {
    String(decoding: output, as: UTF8.self).contains(text)
  }

  /// The processor time of the process so far, in system ticks.
  var ticks: Int { ProcessorTime.ticks(of: id) }
}

/// A home directory for the program, whose local server ends with it.
final class TerminalHome {
  private let folder: TemporaryFolder
  private let program: String
  private let variables: [String: String]

  /// Creates an empty home for terminals of a kind.
  init(_ environment: BenchmarkEnvironment, terminal kind: String = "xterm-256color") throws {
    program = environment.hearth
    folder = try TemporaryFolder(in: NSTemporaryDirectory())
    variables = [
      "HOME": folder.path, "TERM": kind, "LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin",
    ]
  }

  deinit {
    try? run("stop")
  }

  /// Creates a blog with this many posts, before any client opens it.
  func write(_ count: Int) throws {
    let file = folder.path + "/blog.json"
    try SampleBlog.json(count).write(toFile: file, atomically: false, encoding: .utf8)
    try run("import", file)
  }

  /// Starts the program on a terminal, for a user who is not asked for a name.
  func start(user: String = "reader") throws -> TerminalProgram {
    try TerminalProgram(program, arguments: ["--user", user], environment: variables, in: self)
  }

  /// Runs a command to completion.
  func run(_ arguments: String...) throws {
    guard Tool.output(of: [program] + arguments, environment: variables) != nil else {
      throw LoadError("\(arguments.first ?? "the program") failed")
    }
  }
}

/// A blog with any number of posts, as a file of its data.
enum SampleBlog {
  /// The digits of keys, in ascending order.
  private static let digits = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
  )

  /// The key of a post; the newest has the highest number.
  static func key(_ number: Int) -> String {
    let places = [262_144, 4_096, 64, 1].map { String(digits[number / $0 % 64]) }
    return "-NjF" + places.joined() + String(repeating: "A", count: 12)
  }

  /// The title of a post; all have the same length, so that no blog has more to paint than another.
  static func title(_ number: Int) -> String {
    "Post number \(String(1_000_000 + number).dropFirst()) of many"
  }

  /// The data of this many posts, in the list of all posts and in those of their authors.
  static func json(_ count: Int) -> String {
    let posts = (0..<count).map { number in
      """
      "\(key(number))":{"author":"ada \(number % 7)","body":"What the day was like, in a line or \
      two, and why it is worth telling: \(number).","starCount":0,"title":"\(title(number))",\
      "uid":"u\(number % 7)"}
      """
    }
    let own = (0..<7).map { author in
      let mine = stride(from: author, to: count, by: 7).map { posts[$0] }
      return "\"u\(author)\":{\(mine.joined(separator: ","))}"
    }
    return """
      {"posts":{\(posts.joined(separator: ","))},"user-posts":{\(own.joined(separator: ","))}}
      """
  }
}
