import Testing

@testable import BlogTUI

@Suite("MouseReport")
struct MouseReportTests {
  private func read(_ text: String) -> MouseReport.Outcome {
    var report = MouseReport()
    var outcome = MouseReport.Outcome.incomplete
    for scalar in text.unicodeScalars {
      outcome = report.append(scalar)
      if outcome != .incomplete { return outcome }
    }
    return outcome
  }

  private func event(_ kind: MouseEvent.Kind, _ column: Int, _ row: Int) -> MouseReport.Outcome {
    let position = Position(row: row, column: column)
    return .complete(.mouse(MouseEvent(kind: kind, position: position)))
  }

  @Test("Columns beyond 223 are told")
  func wide() {
    #expect(read("0;301;5M") == event(.press, 300, 4))
    #expect(read("0;301;5m") == event(.release, 300, 4))
    #expect(read("64;1;1M") == event(.wheelUp, 0, 0))
    #expect(read("65;1;1M") == event(.wheelDown, 0, 0))
  }

  @Test("What is no report is dropped", arguments: ["M", "0;0;1M", "1;2M", "2;3;4M", "0;1;2x"])
  func bad(text: String) {
    #expect(read(text) == .complete(nil))
  }

  @Test("A report without end is given up")
  func endless() {
    #expect(read(String(repeating: "1", count: 100)) == .complete(nil))
    #expect(read("0;1") == .incomplete)
  }
}
