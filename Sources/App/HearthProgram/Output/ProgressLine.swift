import BlogTUI
import Foundation
import NIOConcurrencyHelpers

/// Shows the progress of a long command at a terminal.
///
/// The line has the amount done, the share, the time left and the rate. Without a terminal, only
/// the result is printed.
///
/// ```swift
/// let progress = ProgressLine("importing", counting: .bytes, of: size)
/// progress.set(done)
/// progress.finish("12,000 posts imported")
/// ```
///
/// The line is on stderr. It appears no sooner than a second after the start and is redrawn in
/// place at most ten times a second; any other output of the command removes it first. May be used
/// from any thread; setting it costs less than a microsecond.
package final class ProgressLine: Sendable {
  package enum Unit: Hashable, Sendable {
    /// Bytes, shown as KB, MB and GB with factors of 1,024.
    case bytes
    /// Items with a name in the plural, such as "rows".
    case things(String)
    /// Seconds of a planned duration.
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
  /// Starts counting for an activity, such as "importing"; the total is nil if unknown.
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

  /// Redraws the line while nothing is counted, so that the time shown advances.
  private func tick() {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 0.5) { [weak self] in
      guard let self, !state.withLockedValue(\.isFinished) else { return }
      update { _ in }
      tick()
    }
  }

  /// Starts counting with a clock, on a terminal of some width; nil if there is no terminal.
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

  /// Sets the amount done, and the total if it has become known.
  package func set(_ done: Int64, of total: Int64? = nil) {
    update { state in
      state.done = done
      if let total { state.total = total }
    }
  }

  /// Switches to another activity, or to waiting for something, such as "waiting for 3 clients".
  ///
  /// With a new total, the count starts at 0.
  package func turn(to activity: String, of total: Int64? = nil) {
    update(isUrgent: true) { state in
      state.activity = activity
      if let total { (state.done, state.total) = (0, total) }
    }
  }

  /// Runs a closure that writes a file, on this thread, and counts the bytes in that file.
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

  /// Removes the line and prints the result on stderr, even without a terminal.
  ///
  /// The summary is what was done, with its counts; the time it took is appended. Nil if the
  /// command prints the result itself.
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

  /// Removes the line until the next amount is counted.
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

  /// The text of the line; parts that do not fit are left out, the rate first.
  private func line(_ state: State, after seconds: Double, columns: Int) -> String {
    let done = state.done
    let rate = seconds > 0 ? Double(done) / seconds : 0
    var parts: [String] = []
    if let total = state.total, total > 0 {
      // An activity that exceeds its estimate is not shown as complete before it is.
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

  /// For example "12.4 MB".
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

  /// For example "12,000".
  package static func grouped(_ number: Int64) -> String {
    var text = String(number.magnitude)
    var position = text.count - 3
    while position > 0 {
      text.insert(",", at: text.index(text.startIndex, offsetBy: position))
      position -= 3
    }
    return number < 0 ? "-\(text)" : text
  }

  /// A number of items: "1 post", "12,000 posts", or with an irregular plural.
  package static func count(_ number: Int, _ name: String, plural: String? = nil) -> String {
    "\(grouped(Int64(number))) \(number == 1 ? name : plural ?? "\(name)s")"
  }

  /// For example "0.4 s", "12 s", "3 min 20 s" or "2 h 5 min".
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
