import Foundation
import NIOConcurrencyHelpers
import RealtimeServer

/// A store in memory that fails or holds back commits when a scene says so.
final class SceneStore: TreeStore {
  enum Mood: Sendable {
    case works
    /// Commits wait until the store works again.
    case holds
    case fails(StoreError.Kind)

    init?(_ text: String) {
      switch text {
      case "works": self = .works
      case "holds": self = .holds
      case "full": self = .fails(.full)
      case "broken": self = .fails(.failed)
      default: return nil
      }
    }
  }

  private let memory: MemoryTreeStore
  private let mood = NIOLockedValueBox(Mood.works)
  private let change = NSCondition()

  init(_ stored: StoredTree = StoredTree()) { memory = MemoryTreeStore(stored) }

  func become(_ new: Mood) {
    change.lock()
    mood.withLockedValue { $0 = new }
    change.broadcast()
    change.unlock()
  }

  func load() -> StoredTree { memory.load() }

  func commit(_ batch: CommitBatch) throws {
    change.lock()
    defer { change.unlock() }
    while true {
      switch mood.withLockedValue({ $0 }) {
      case .works: return memory.commit(batch)
      case .holds: change.wait()
      case .fails(let kind): throw StoreError(kind, description: "the disk of the scene is \(kind)")
      }
    }
  }

  func close() { become(.works) }
}
