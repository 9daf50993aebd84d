import BlogModel
import Synchronization
import Testing

@testable import BlogTUI

@Suite("Inbox")
struct InboxTests {
  @Test("Events come out once, in order")
  func order() {
    let inbox = Inbox(wake: {})
    for number in 0..<100 { inbox.add(.tick(now: Int64(number))) }
    #expect(inbox.takeAll() == (0..<100).map { .tick(now: Int64($0)) })
    #expect(inbox.takeAll().isEmpty)
  }

  @Test("The waker is called once each time the inbox becomes non-empty")
  func wake() {
    let count = Counter()
    let inbox = Inbox(wake: { count.value.add(1, ordering: .relaxed) })
    inbox.add(.tick(now: 1))
    inbox.add(.tick(now: 2))
    #expect(count.value.load(ordering: .relaxed) == 1)
    _ = inbox.takeAll()
    inbox.add(.tick(now: 3))
    #expect(count.value.load(ordering: .relaxed) == 2)
  }

  @Test("Concurrent adds from several threads lose and reorder nothing")
  func threads() async {
    let inbox = Inbox(wake: {})
    let perThread = 5_000
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for number in 0..<perThread {
            inbox.add(.blog(.feedFailed(FeedKind.tabs[thread], reason: String(number))))
          }
        }
      }
      group.addTask {
        var seen: [FeedKind: Int] = [:]
        var total = 0
        while total < 4 * perThread {
          for event in inbox.takeAll() {
            guard case .blog(.feedFailed(let kind, let reason)) = event else { continue }
            #expect(reason == String(seen[kind, default: 0]))
            seen[kind, default: 0] += 1
            total += 1
          }
        }
      }
    }
    #expect(inbox.takeAll().isEmpty)
  }

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }
}
