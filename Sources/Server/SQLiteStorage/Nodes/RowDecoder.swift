import Dispatch
import RealtimeCore
import RealtimeHub

/// Builds a tree of chunks of rows, on a thread of its own while the next chunks are read.
///
/// State: assembling → finished, or failed at the first row that is damaged.
final class RowDecoder: @unchecked Sendable {
  // Safety: the mutable properties are used within `queue` only.

  /// The most chunks that wait to be decoded.
  private static let chunkLimit = 8

  private let path: String
  private let queue = DispatchQueue(label: "SQLiteTreeStore.decoding")
  private let free = DispatchSemaphore(value: chunkLimit)
  private var walk = RowWalk(TreeAssembler())
  private var failure: StoreError?

  /// - Parameter path: The file that errors name.
  init(path: String) {
    self.path = path
  }

  /// Takes the next chunk, and waits while too many are ahead of it.
  func add(_ chunk: NodeRows) {
    free.wait()
    queue.async { [self] in
      decode(chunk)
      free.signal()
    }
  }

  /// Waits for the last chunk and returns the tree.
  ///
  /// - Throws: ``StoreError`` when a row is damaged.
  func finish() throws(StoreError) -> Node {
    try StoreError.translating(at: path) {
      try queue.sync {
        if let failure { throw failure }
        return try walk.finish().tree()
      }
    }
  }

  private func decode(_ chunk: NodeRows) {
    guard failure == nil else { return }
    do {
      try chunk.forEachNode(path) { try walk.add($0, $1) }
    } catch {
      failure = StoreError(error, at: path)
    }
  }
}
