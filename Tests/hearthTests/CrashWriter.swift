import Foundation
import RealtimeTree
import TestSupport

/// A client that writes until the server dies, and after the restart sends again what had no answer.
///
/// Its writes have keys, so the server must apply each exactly once. They are increments of one
/// counter; pairs, the same number at one place on the left and one on the right; moves of a token,
/// which is at one place always; and transactions on a counter that all writers share.
final class CrashWriter: @unchecked Sendable {
  // Safety: used by one thread at a time; a round's thread has ended before its results are read.

  private enum Kind {
    case increment
    case pair(slot: Int)
    case move(slot: Int)
    /// Sets the shared counter to a value, where it is still one less.
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
  private var acknowledged = CrashTrace()
  /// Where the token is after all writes so far.
  private var tokenSlot: Int?
  /// The shared counter as the server has last told it; nil until it has.
  private var sharedCount: Int?
  /// What was wrong with an answer.
  private(set) var problems: [String] = []
  /// How many writes have been acknowledged.
  private(set) var acknowledgedCount = 0
  /// What the shared counter was set to by transactions that were acknowledged.
  private(set) var transactionValues: [Int] = []
  /// How many transactions had to run again, since another was faster.
  private(set) var staleCount = 0

  init(_ name: String, seed: UInt64) {
    self.name = name
    random = SplitMix64(seed: seed)
  }

  /// How many transactions have no answer.
  var pendingTransactions: Int {
    pending.count { if case .transaction = $0.kind { true } else { false } }
  }

  /// Sends again what was not answered, then new writes until the connection breaks.
  func write(to socket: String, onlyPending: Bool = false) {
    sharedCount = nil
    guard let client = WireClient(socket: socket),
      client.send(#"{"t":"d","d":{"r":0,"a":"q","b":{"p":"/shared","h":""}}}"#)
    else { return }
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
    case 1 where tokenSlot != slot:
      kind = .move(slot: slot)
      let leaves = tokenSlot.map { #""s\#($0)":null,"# } ?? ""
      body = #""a":"m","b":{"p":"/tokens/\#(name)","d":{\#(leaves)"s\#(slot)":\#(number)}"#
      tokenSlot = slot
    case 2 where sharedCount != nil && pendingTransactions == 0:
      let count = sharedCount ?? 0
      kind = .transaction(value: count + 1)
      // A counter that nobody has written is none, and the hash of no data is empty.
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
      // Where no data came before the answer, there are none.
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
    let isApplied = answer == #"{"t":"d","d":{"r":\#(first.number),"b":{"s":"ok","d":""}}}"#
    if case .transaction(let value) = first.kind {
      if isApplied {
        transactionValues.append(value)
      } else if answer.hasPrefix(#"{"t":"d","d":{"r":\#(first.number),"b":{"s":"datastale""#) {
        staleCount += 1
      } else {
        return problems.append("no answer to \(first.message): \(answer)")
      }
    } else if !isApplied {
      return problems.append("no answer to \(first.message): \(answer)")
    }
    pending.removeFirst()
    acknowledgedCount += 1
    Self.apply(first, to: &acknowledged)
  }

  private static func apply(_ write: Write, to trace: inout CrashTrace) {
    switch write.kind {
    case .increment: trace.increments += 1
    case .pair(let slot):
      trace.left["s\(slot)"] = write.number
      trace.right["s\(slot)"] = write.number
    case .move(let slot): trace.tokens = ["s\(slot)": write.number]
    case .transaction: break
    }
  }

  /// Compares what the server has with what was acknowledged and what may have been applied.
  func check(_ data: [String: Any]) -> [String] {
    let stored = CrashTrace(of: name, in: data)
    // What is applied of the pending writes is a part from their start: nothing later without them.
    var candidates = [acknowledged]
    var trace = acknowledged
    for write in pending {
      Self.apply(write, to: &trace)
      candidates.append(trace)
    }
    guard !candidates.contains(stored) else { return problems }
    return problems + ["\(name): \(stored) is none of \(candidates)"]
  }
}
