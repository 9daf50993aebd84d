import TestSupport
import Testing

@Suite("Untrusted input")
struct FuzzTests {
  @Test("is parsed correctly for every example in the corpus", arguments: FuzzTarget.allCases)
  func corpus(target: FuzzTarget) throws {
    let corpus = try Corpus(target)
    #expect(corpus.examples.count >= 4)
    for example in corpus.examples {
      do throws(BrokenProperty) {
        try target.check(example.bytes)
      } catch {
        Issue.record("\(target.rawValue)/\(example): \(error)")
      }
    }
  }

  @Test("is parsed correctly after random mutations", arguments: FuzzTarget.allCases)
  func mutations(target: FuzzTarget) throws {
    let examples = try Corpus(target).examples.map(\.bytes)
    for seed in Thoroughness.seeds(3) {
      var mutator = Mutator(examples, seed: seed)
      for round in 1...(Thoroughness.isFull ? target.rounds : target.rounds / 3) {
        let input = mutator.next()
        do throws(BrokenProperty) {
          try target.check(input)
        } catch {
          Issue.record("seed \(seed), round \(round): \(error)\n\(input)")
          return
        }
      }
    }
  }
}

extension FuzzTarget {
  /// The number of inputs generated from each seed: slow targets get fewer.
  fileprivate var rounds: Int {
    switch self {
    case .connections, .rules, .sessions: 250
    case .frames, .identities, .json, .keys, .messages, .parameters, .paths, .queries, .text,
      .tokens,
      .urls:
      1_000
    }
  }
}
