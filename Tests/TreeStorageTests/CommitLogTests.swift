import RealtimeCore
import Testing

@testable import RealtimeServer

@Suite("The log of a store")
struct CommitLogTests {
  /// A log whose rows are batches that end with the commits of their numbers.
  private struct Log: CommitLog {
    var rows: [(revision: Int64, payload: [UInt8])] = []

    init(_ batches: [ClosedRange<Int64>]) throws {
      for batch in batches {
        let commits = batch.map {
          Commit(revision: $0, timestamp: 0, changes: [Change("a", to: .integer($0))])
        }
        rows.append((batch.upperBound, try BatchCoding.encode(commits)))
      }
    }

    func forEachLogRow(
      after revision: Int64,
      through last: Int64,
      _ body: (Int64, [UInt8]) throws -> Void
    ) throws {
      for row in rows where row.revision > revision && row.revision <= last {
        try body(row.revision, row.payload)
      }
    }
  }

  @Test("Commits are read from the middle of a batch, and not from before the log")
  func reach() throws {
    let log = try Log([4...6, 7...7, 8...9])
    #expect(try log.commits(after: 2) == nil)
    #expect(try log.commits(after: 3)?.map(\.revision) == [4, 5, 6, 7, 8, 9])
    #expect(try log.commits(after: 5)?.map(\.revision) == [6, 7, 8, 9])
    #expect(try log.commits(after: 8)?.map(\.revision) == [9])
  }

  @Test("A commit that is missing between two batches is named")
  func gap() throws {
    let log = try Log([4...6, 8...9])
    #expect(try log.commits(after: 6) == nil)
    for read in [{ _ = try log.commits(after: 4) }, { try log.forEachBatch(after: 3) { _ in } }] {
      let error = #expect(throws: DamagedData.self) { try read() }
      #expect(error?.description.contains("commit 7 is missing") == true)
    }
  }
}
