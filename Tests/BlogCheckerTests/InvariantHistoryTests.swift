import Foundation
import TestSupport
import Testing

@Suite("Invariants: histories")
struct InvariantHistoryTests {
  private static let isUpdate = ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1"
  private static let files = Transcript.files(in: "Histories")

  @Test(
    "A history is judged as it is written",
    .disabled(if: isUpdate),
    arguments: files.flatMap { Transcript.all(of: $0) }
  )
  func asWritten(_ history: Transcript) throws {
    try history.expect(with: HistoryPlayer.self)
  }

  @Test("Histories are written anew", .enabled(if: isUpdate), arguments: files)
  func update(_ file: URL) throws {
    try Transcript.update(file, with: HistoryPlayer.self)
  }
}
