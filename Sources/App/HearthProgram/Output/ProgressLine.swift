import BlogTUI
import Foundation
import NIOConcurrencyHelpers

/// Tells a person at a terminal how far a long command is.
///
/// The line has how much is done, the share, the time that is left and the rate. Without a terminal it
/// says nothing but what came of it.
///
/// ```swift
/// let progress = ProgressLine("importing", counting: .bytes, of: size)
/// progress.add(bytes.count)
/// progress.finish("12,000 posts imported")
/// ```
///
/// The line is on stderr, a second after the start at the earliest, and is drawn again in place ten times
/// a second at most; whatever else the command writes removes it first. May be used from any thread; to
/// add to it costs less than a microsecond.
package final class ProgressLine: Sendable {
  /// What is counted.
  package enum Unit: Hashable, Sendable {
    /// Bytes, shown as KB, MB and GB of 1,024.
    case bytes
    /// Things of a name, in the plural, such as "rows".
    case things(String)
    /// Seconds of a time that is planned.
    case seconds
  }

  private struct State {
    var activity: String
    var done: Int64 = 0
    var total: Int64?
    var drawn: ContinuousClock.Instant?
    var isShown = false
    var isFinished = false
  }

  private static let delay = Duration.seconds(1)
  private static let interval = Duration.milliseconds(100)

  private let unit: Unit
  private let state: NIOLockedValueBox<State>
  private let start: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant
  private let columns: @Sendable () -> Int?
  private let write: @Sendable (String) -> Void
  /// Begins to count.
  ///
  /// - Parameters:
  ///   - activity: What is being done, such as "importing".
  ///   - unit: What is counted.
  ///   - total: How much there is to be done; nil when that is not known.
  package convenience init(_ activity: String, counting unit: Unit, of total: Int64? = nil) {
    self.init(
      activity,
      counting: unit,
      of: total,
      now: { .now },
      columns: { Self.terminalColumns() },
      write: { Output.emit($0, to: STDERR_FILENO) }
    )
    Output.setProgressLine(hiddenBy: { [weak self] in self?.hide() })
    guard Self.terminalColumns() != nil else { return }
    tick()
  }

  /// Draws the line again while nothing is counted, so that one sees the time pass.
  private func tick() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 0.5) { [weak self] in
      guard let self, !state.withLockedValue(\.isFinished) else { return }
      update { _ in }
      tick()
    }
  }

  /// Begins to count, by a clock, on a terminal of so many columns, which is nil when there is none.
  init(
    _ activity: String,
    counting unit: Unit,
    of total: Int64?,
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    columns: @escaping @Sendable () -> Int?,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.unit = unit
    self.now = now
    self.columns = columns
    self.write = write
    start = now()
    state = NIOLockedValueBox(State(activity: activity, total: total))
  }

  deinit {
    hide()
  }

  /// Counts something as done.
  package func add(_ amount: Int) {
    update { $0.done += Int64(amount) }
  }

  /// Says how much is done by now, and how much there is if that has become known.
  package func set(_ done: Int64, of total: Int64? = nil) {
    update { state in
      state.done = done
      if let total { state.total = total }
    }
  }

  /// Says that something else is being done, or that it waits for something.
  ///
  /// - Parameters:
  ///   - activity: What it is, such as "waiting for 3 clients".
  ///   - total: How much there is of it, counted anew; nil keeps the count.
  package func turn(to activity: String, of total: Int64? = nil) {
    update(isUrgent: true) { state in
      state.activity = activity
      if let total { (state.done, state.total) = (0, total) }
    }
  }

  /// Does something that writes a file, and counts the bytes that are in it.
  ///
  /// - Parameters:
  ///   - file: The path of the file.
  ///   - body: What writes it, on this thread.
  /// - Returns: What the closure returns.
  package func following<Result>(_ file: String, _ body: () throws -> Result) rethrows -> Result {
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + 0.2, repeating: 0.2)
    timer.setEventHandler { [weak self] in
      var status = stat()
      if stat(file, &status) == 0 { self?.set(Int64(status.st_size)) }
    }
    timer.resume()
    defer { timer.cancel() }
    return try body()
  }

  /// Removes the line, and says on stderr what came of it, also where there is no terminal.
  ///
  /// - Parameter summary: What was done, with its counts; the time it took follows. Nil for nothing,
  ///   where the command itself says it.
  package func finish(_ summary: String? = nil) {
    state.withLockedValue { state in
      hide(&state)
      state.isFinished = true
    }
    guard let summary else { return }
    let seconds = (now() - start) / .seconds(1)
    write(
      "hearth: \(SafeText(untrusted: summary, mode: .singleLine).string)"
        + " in \(Self.duration(seconds))\n"
    )
  }

  /// Removes the line until something is counted again.
  package func hide() {
    state.withLockedValue { hide(&$0) }
  }

  // MARK: Drawing

  private func update(isUrgent: Bool = false, _ change: (inout State) -> Void) {
    let time = now()
    state.withLockedValue { state in
      change(&state)
      guard !state.isFinished, time - start >= Self.delay else { return }
      if let drawn = state.drawn, !isUrgent, time - drawn < Self.interval { return }
      state.drawn = time
      guard let columns = columns() else { return }
      state.isShown = true
      write("\r\(line(state, after: (time - start) / .seconds(1), columns: columns))\u{1B}[K")
    }
  }

  private func hide(_ state: inout State) {
    guard state.isShown else { return }
    state.isShown = false
    state.drawn = nil
    write("\r\u{1B}[K")
  }

  /// The line: what does not fit is left out, the rate first.
  private func line(_ state: State, after seconds: Double, columns: Int) -> String {
    let done = state.done
    let rate = seconds > 0 ? Double(done) / seconds : 0
    var parts: [String] = []
    if let total = state.total, total > 0 {
      // What is longer than it was thought to be is not done until it is.
      let share = min(Double(done) / Double(total), 0.99)
      parts.append("\(Int(share * 100)) %")
      if unit != .seconds {
        let part = unit == .bytes ? amount(done) : Self.grouped(done)
        parts.append("\(part) of \(amount(total))")
      }
      let left = unit == .seconds ? Double(total - done) : Double(total - done) / max(rate, 0.001)
      if done > 0, left >= 1 { parts.append("\(Self.duration(left)) left") }
    } else if done > 0 {
      parts.append(amount(done))
    } else {
      parts.append(Self.duration(seconds))
    }
    if unit != .seconds, done > 0 { parts.append("\(amount(Int64(rate)))/s") }
    while true {
      let text = ([state.activity] + parts).joined(separator: "  ")
      if text.count < columns || parts.isEmpty { return String(text.prefix(max(columns - 1, 0))) }
      parts.removeLast()
    }
  }

  private func amount(_ number: Int64) -> String {
    switch unit {
    case .bytes: Self.bytes(number)
    case .things(let name): "\(Self.grouped(number)) \(name)"
    case .seconds: Self.duration(Double(number))
    }
  }

  // MARK: Words

  /// Such as "12.4 MB".
  package static func bytes(_ number: Int64) -> String {
    var value = Double(number)
    var unit = "bytes"
    for next in ["KB", "MB", "GB", "TB"] where value >= 1_024 {
      value /= 1_024
      unit = next
    }
    return unit == "bytes" || value >= 100
      ? "\(Int(value)) \(unit)" : "\(String(format: "%.1f", value)) \(unit)"
  }

  /// Such as "12,000".
  package static func grouped(_ number: Int64) -> String {
    var text = String(number.magnitude)
    var position = text.count - 3
    while position > 0 {
      text.insert(",", at: text.index(text.startIndex, offsetBy: position))
      position -= 3
    }
    return number < 0 ? "-\(text)" : text
  }

  /// A number of things: "1 post", "12,000 posts", or with a plural of their own.
  package static func count(_ number: Int, _ name: String, plural: String? = nil) -> String {
    "\(grouped(Int64(number))) \(number == 1 ? name : plural ?? "\(name)s")"
  }

  /// Such as "0.4 s", "12 s", "3 min 20 s" or "2 h 5 min".
  package static func duration(_ seconds: Double) -> String {
    if seconds < 10 { return String(format: "%.1f s", max(seconds, 0)) }
    let whole = Int(seconds.rounded())
    if whole < 60 { return "\(whole) s" }
    if whole < 3_600 { return "\(whole / 60) min \(whole % 60) s" }
    return "\(whole / 3_600) h \(whole % 3_600 / 60) min"
  }

  private static func terminalColumns() -> Int? {
    guard isatty(STDERR_FILENO) == 1, getenv("TERM").map({ String(cString: $0) }) != "dumb" else {
      return nil
    }
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
