import NIOConcurrencyHelpers
import Testing

@testable import HearthProgram

/// A terminal that records what is written, and a clock that stands still until it is advanced.
private final class Desk: Sendable {
  private let start = ContinuousClock.now
  private let elapsed = NIOLockedValueBox(Duration.zero)
  private let written = NIOLockedValueBox("")
  private let columns: Int?

  init(columns: Int?) { self.columns = columns }

  func line(_ activity: String, _ unit: ProgressLine.Unit, of total: Int64?) -> ProgressLine {
    ProgressLine(
      activity,
      counting: unit,
      of: total,
      now: { self.start + self.elapsed.withLockedValue(\.self) },
      columns: { self.columns },
      write: { text in self.written.withLockedValue { $0 += text } }
    )
  }

  func wait(_ duration: Duration) { elapsed.withLockedValue { $0 += duration } }

  /// Everything written since the last call.
  func take() -> String {
    written.withLockedValue { text in
      defer { text = "" }
      return text
    }
  }

  /// The line on the screen after it was last drawn.
  func shown() -> String {
    let last = take().split(separator: "\r").last ?? ""
    return String(last).replacing("\u{1B}[K", with: "")
  }
}

@Suite("Progress line")
struct ProgressLineTests {
  @Test("The line shows share, amount, time left and rate after a second")
  func share() {
    let desk = Desk(columns: 80)
    let line = desk.line("importing", .bytes, of: 10 << 20)
    line.set(1 << 20)
    #expect(desk.take() == "", "what is quick says nothing")
    desk.wait(.seconds(2))
    line.set(2 << 20)
    #expect(desk.shown() == "importing  20 %  2.0 MB of 10.0 MB  8.0 s left  1.0 MB/s")
    line.set(3 << 20)
    #expect(desk.take() == "", "it is not drawn again at once")
    desk.wait(.milliseconds(100))
    line.set(5 << 20)
    #expect(desk.shown().hasPrefix("importing  50 %  5.0 MB of 10.0 MB"))
    desk.wait(.seconds(1))
    line.set(20 << 20)
    #expect(desk.shown().hasPrefix("importing  99 %"), "it is not done before it says so")
    line.finish("imported 10.0 MB: 12,000 entries")
    #expect(desk.take() == "\r\u{1B}[Khearth: imported 10.0 MB: 12,000 entries in 3.1 s\n")
    desk.wait(.seconds(1))
    line.set(21 << 20)
    #expect(desk.take() == "", "after the end it is silent")
  }

  @Test("Without a terminal only the result is printed")
  func noTerminal() {
    let desk = Desk(columns: nil)
    let line = desk.line("exporting", .things("rows"), of: 100)
    desk.wait(.seconds(5))
    line.set(50)
    line.turn(to: "storing")
    #expect(desk.take() == "")
    line.finish("exported 100 rows\u{1B}[2J")
    let text = desk.take()
    #expect(text.hasPrefix("hearth: exported 100 rows") && text.hasSuffix(" in 5.0 s\n"))
    #expect(!text.contains("\u{1B}"))
  }

  @Test("The line omits an unknown total and whatever does not fit")
  func narrow() {
    let desk = Desk(columns: 40)
    let line = desk.line("exporting", .things("rows"), of: nil)
    desk.wait(.seconds(2))
    line.set(24_000)
    #expect(desk.shown() == "exporting  24,000 rows  12,000 rows/s")
    desk.wait(.seconds(2))
    line.set(24_000, of: 48_000)
    #expect(desk.shown() == "exporting  50 %  24,000 of 48,000 rows")
    let tiny = Desk(columns: 6)
    let other = tiny.line("exporting", .bytes, of: nil)
    tiny.wait(.seconds(2))
    other.set(1)
    #expect(tiny.shown() == "expor")
  }

  @Test("A change of phase is shown at once, with its elapsed time")
  func waiting() {
    let desk = Desk(columns: 80)
    let line = desk.line("the storm", .seconds, of: 60)
    desk.wait(.seconds(15))
    line.set(15)
    #expect(desk.shown() == "the storm  25 %  45 s left")
    line.turn(to: "healing: waiting for 2 things under way in 1 process", of: 0)
    #expect(desk.shown() == "healing: waiting for 2 things under way in 1 process  15 s")
    line.hide()
    #expect(desk.take() == "\r\u{1B}[K")
    line.hide()
    #expect(desk.take() == "", "there is nothing to remove any more")
  }

  @Test(
    "Numbers, sizes and durations are readable",
    arguments: [
      (ProgressLine.bytes(512), "512 bytes"), (ProgressLine.bytes(1_536), "1.5 KB"),
      (ProgressLine.bytes(300 << 20), "300 MB"), (ProgressLine.bytes(5 << 40), "5.0 TB"),
      (ProgressLine.grouped(999), "999"), (ProgressLine.grouped(1_234_567), "1,234,567"),
      (ProgressLine.count(1, "entry", plural: "entries"), "1 entry"),
      (ProgressLine.count(2_000, "post"), "2,000 posts"),
      (ProgressLine.duration(0.04), "0.0 s"), (ProgressLine.duration(59.6), "1 min 0 s"),
      (ProgressLine.duration(200), "3 min 20 s"), (ProgressLine.duration(7_500), "2 h 5 min"),
    ]
  )
  func words(text: String, expected: String) {
    #expect(text == expected)
  }
}
