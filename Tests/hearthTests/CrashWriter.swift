import Foundation
import TestSupport

/// A client that writes until the server dies, and after the restart sends again what had no answer.
///
/// Its writes have keys, so the server must apply each exactly once. They are increments of one
/// counter, and pairs: the same number at one place on the left and one on the right.
final class CrashWriter: @unchecked Sendable {
  // Safety: used by one thread at a time; a round's thread has ended before its results are read.

  private struct Write {
    let number: Int
    let message: String
    /// The place of the pair, or nil for an increment.
    let slot: Int?
  }

  private static let slots = 12
  private static let window = 6

  let name: String
  private var random: SplitMix64
  private var number = 0
  private var pending: [Write] = []
  private var issuedIncrements = 0
  private var acknowledgedIncrements = 0
  private var acknowledgedPairs: [Int: Int] = [:]
  /// What was wrong with an answer.
  private(set) var problems: [String] = []

  init(_ name: String, seed: UInt64) {
    self.name = name
    random = SplitMix64(seed: seed)
  }

  /// How many writes have been acknowledged.
  private(set) var acknowledgedCount = 0

  /// Sends again what was not answered, then new writes until the connection breaks.
  func write(to socket: String, onlyPending: Bool = false) {
    guard let client = WireClient(socket: socket) else { return }
    for write in pending { guard client.send(write.message) else { return } }
    while !onlyPending || !pending.isEmpty {
      if !onlyPending, pending.count < Self.window {
        let write = nextWrite()
        pending.append(write)
        guard client.send(write.message) else { return }
        if Int.random(in: 0..<3, using: &random) > 0 { continue }
      }
      guard let answer = client.receive() else { return }
      settle(answer)
    }
  }

  private func nextWrite() -> Write {
    number += 1
    let isPair = Bool.random(using: &random)
    let slot = Int.random(in: 0..<Self.slots, using: &random)
    if !isPair { issuedIncrements += 1 }
    let body =
      isPair
      ? #""a":"m","b":{"p":"/","d":{"left/\#(name)/s\#(slot)":\#(number),"right/\#(name)/s\#(slot)":\#(number)}"#
      : #""a":"p","b":{"p":"/counters/\#(name)","d":{".sv":{"increment":1}}"#
    let message = #"{"t":"d","d":{"r":\#(number),\#(body),"i":"\#(name):\#(number)"}}}"#
    return Write(number: number, message: message, slot: isPair ? slot : nil)
  }

  private func settle(_ answer: String) {
    guard let first = pending.first else { return problems.append("an answer too many: \(answer)") }
    guard answer == #"{"t":"d","d":{"r":\#(first.number),"b":{"s":"ok","d":""}}}"# else {
      return problems.append("no answer to \(first.message): \(answer)")
    }
    pending.removeFirst()
    acknowledgedCount += 1
    if let slot = first.slot {
      acknowledgedPairs[slot] = first.number
    } else {
      acknowledgedIncrements += 1
    }
  }

  /// Compares what the server has with what was acknowledged and what may have been applied.
  func check(_ data: [String: Any]) -> [String] {
    var found = problems
    let count = (data["counters"] as? [String: Any])?[name] as? Int ?? 0
    if !(acknowledgedIncrements...issuedIncrements).contains(count) {
      found.append(
        "\(name): \(acknowledgedIncrements) to \(issuedIncrements) increments, \(count) there"
      )
    }
    let left = (data["left"] as? [String: Any])?[name] as? [String: Int] ?? [:]
    let right = (data["right"] as? [String: Any])?[name] as? [String: Int] ?? [:]
    if left != right { found.append("\(name): half a pair: \(left) and \(right)") }
    // What is applied of the pending writes is a part from their start: nothing later without them.
    let appliedPending = count - acknowledgedIncrements
    var increments = 0
    var expected = acknowledgedPairs
    var candidates = [expected]
    for write in pending {
      if let slot = write.slot { expected[slot] = write.number } else { increments += 1 }
      if write.slot == nil, increments == appliedPending { candidates = [expected] }
      if write.slot != nil, increments == appliedPending { candidates.append(expected) }
    }
    let stored = Dictionary(
      uniqueKeysWithValues: left.compactMap { key, value in Int(key.dropFirst()).map { ($0, value) }
      }
    )
    if !candidates.contains(stored) { found.append("\(name): \(stored) is none of \(candidates)") }
    return found
  }
}
