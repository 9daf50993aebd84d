import Foundation
import RealtimeCore
import Synchronization
import TestSupport

/// The progress of a round's writers, which determines when the server dies.
final class CrashProgress: Sendable {
  private let answerCount = Atomic(0)
  private let recoveryCount = Atomic(0)

  /// The number of writes that were answered.
  var answers: Int { answerCount.load(ordering: .relaxed) }
  /// Whether a write was stored after one was refused.
  var hasRecovered: Bool { recoveryCount.load(ordering: .relaxed) > 0 }

  fileprivate func noteAnswer() { answerCount.add(1, ordering: .relaxed) }
  fileprivate func noteRecovery() { recoveryCount.add(1, ordering: .relaxed) }
}

/// A client that writes until the server dies, and resends unanswered writes after the restart.
///
/// Its writes have keys, so the server must apply each exactly once. They are increments of one
/// counter; pairs, which write the same number to a left and a right path; moves of a token, which
/// is always at exactly one path; and transactions on a counter that all writers share. Writes that
/// the server refuses because its disk is full are not sent again, and must never appear.
final class CrashWriter: @unchecked Sendable {
  // Safety: used by one thread at a time; a round's thread has ended before its results are read.

  private enum Kind {
    case increment
    case pair(slot: Int)
    case move(slot: Int)
    /// Sets the shared counter to a value if it is still one less.
    case transaction(value: Int)
  }

  private struct Write {
    let number: Int
    let message: String
    let kind: Kind
  }

  private static let slots = 12
  private static let window = 6

  let name: String
  private var random: SplitMix64
  private var number = 0
  private var pending: [Write] = []
  /// What the acknowledged writes leave behind.
  private var acknowledged = CrashTrace()
  /// The shared counter as the server last sent it; nil before that.
  private var sharedCount: Int?
  /// What was wrong with the responses.
  private(set) var problems: [String] = []
  /// The number of acknowledged writes.
  private(set) var acknowledgedCount = 0
  /// The values to which acknowledged transactions set the shared counter.
  private(set) var transactionValues: [Int] = []
  /// The number of transactions that had to run again because another one was faster.
  private(set) var staleCount = 0
  /// The number of writes that were refused because the disk was full.
  private(set) var refusedCount = 0
  /// How often a write was acknowledged after one was refused by the same server.
  private(set) var recoveryCount = 0
  /// Receives the progress of this round.
  private var progress = CrashProgress()
  /// Whether the current server has refused a write since it last acknowledged one.
  private var isRefusing = false

  init(_ name: String, seed: UInt64) {
    self.name = name
    random = SplitMix64(seed: seed)
  }

  /// The values to which unanswered transactions set the shared counter.
  var pendingValues: [Int] {
    pending.compactMap { if case .transaction(let value) = $0.kind { value } else { nil } }
  }

  /// Resends unanswered writes, then sends new writes until no server listens any more.
  func write(
    to socket: String,
    onlyPending: Bool = false,
    progress: CrashProgress = CrashProgress()
  ) {
    isRefusing = false
    self.progress = progress
    while let client = WireClient(socket: socket) {
      write(to: client, onlyPending: onlyPending)
      if onlyPending, pending.isEmpty { return }
      // The last responses before the end.
      while let message = client.receive() { take(message) }
    }
  }

  /// Writes until the connection breaks.
  private func write(to client: WireClient, onlyPending: Bool) {
    sharedCount = nil
    guard client.send(#"{"t":"d","d":{"r":0,"a":"q","b":{"p":"/shared","h":""}}}"#) else { return }
    for write in pending { guard client.send(write.message) else { return } }
    while !onlyPending || !pending.isEmpty {
      if !onlyPending, pending.count < Self.window {
        let write = nextWrite()
        pending.append(write)
        guard client.send(write.message) else { return }
        if Int.random(in: 0..<3, using: &random) > 0 { continue }
      }
      guard let message = client.receive() else { return }
      take(message)
    }
  }

  private func nextWrite() -> Write {
    number += 1
    let slot = Int.random(in: 0..<Self.slots, using: &random)
    let kind: Kind
    let body: String
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      kind = .pair(slot: slot)
      body =
        #""a":"m","b":{"p":"/","d":{"left/\#(name)/s\#(slot)":\#(number),"right/\#(name)/s\#(slot)":\#(number)}"#
    case 1:
      kind = .move(slot: slot)
      // At any of the slots: the previous move may have been refused.
      let slots = (0..<Self.slots).map { #""s\#($0)":\#($0 == slot ? "\(number)" : "null")"# }
      body = #""a":"m","b":{"p":"/tokens/\#(name)","d":{\#(slots.joined(separator: ","))}"#
    case 2 where sharedCount != nil && pendingValues.isEmpty:
      let count = sharedCount ?? 0
      kind = .transaction(value: count + 1)
      // A counter that has not been written is empty, and the hash of empty data is empty.
      let hash = count == 0 ? "" : Node.integer(Int64(count)).hash
      body = #""a":"p","b":{"p":"/shared/count","h":"\#(hash)","d":\#(count + 1)"#
    default:
      kind = .increment
      body = #""a":"p","b":{"p":"/counters/\#(name)","d":{".sv":{"increment":1}}"#
    }
    let message = #"{"t":"d","d":{"r":\#(number),\#(body),"i":"\#(name):\#(number)"}}}"#
    return Write(number: number, message: message, kind: kind)
  }

  private func take(_ message: String) {
    guard let data = (try? JSONParser.parse(message))?["d"] else {
      return problems.append("no message: \(message)")
    }
    if data["a"] != nil {
      noteCount(data["b"])
    } else if data["r"]?.integer == 0 {
      // If no data came before the response, there is none.
      sharedCount = sharedCount ?? 0
    } else {
      settle(message)
    }
  }

  private func noteCount(_ push: JSONValue?) {
    let node = push?["d"]
    let count = push?["p"]?.string == "shared" ? node?["count"]?.integer : node?.integer
    guard let count else { return problems.append("no count: \(push?.text ?? "")") }
    sharedCount = Int(count)
  }

  private func settle(_ answer: String) {
    guard let first = pending.first else { return problems.append("an answer too many: \(answer)") }
    let start = #"{"t":"d","d":{"r":\#(first.number),"b":{"s":"#
    if answer == start + #""ok","d":""}}}"# {
      acknowledge(first)
    } else if answer.hasPrefix(start + #""unavailable""#) {
      refusedCount += 1
      isRefusing = true
    } else if case .transaction = first.kind, answer.hasPrefix(start + #""datastale""#) {
      staleCount += 1
    } else {
      return problems.append("no answer to \(first.message): \(answer)")
    }
    pending.removeFirst()
    progress.noteAnswer()
  }

  private func acknowledge(_ write: Write) {
    acknowledgedCount += 1
    if isRefusing {
      recoveryCount += 1
      progress.noteRecovery()
    }
    isRefusing = false
    if case .transaction(let value) = write.kind { transactionValues.append(value) }
    acknowledged = Self.trace(acknowledged, with: write)
  }

  private static func trace(_ before: CrashTrace, with write: Write) -> CrashTrace {
    var trace = before
    switch write.kind {
    case .increment: trace.increments += 1
    case .pair(let slot):
      trace.left["s\(slot)"] = write.number
      trace.right["s\(slot)"] = write.number
    case .move(let slot): trace.tokens = ["s\(slot)": write.number]
    case .transaction: break
    }
    return trace
  }

  /// Compares the data of a server after a start with what was acknowledged and what may be stored:
  /// an unanswered write only together with those before it.
  func check(_ data: [String: Any]) -> [String] {
    let stored = CrashTrace(of: name, in: data)
    var trace = acknowledged
    if trace == stored { return problems }
    for write in pending {
      trace = Self.trace(trace, with: write)
      if trace == stored { return problems }
    }
    return problems + [
      "\(name): \(stored), but \(acknowledged), without answer \(pending.map(\.message))"
    ]
  }
}
