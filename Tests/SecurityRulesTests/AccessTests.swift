import Foundation
import RealtimeCore
import RealtimeServer
import Testing

/// A request by nobody in particular, and whether rules allow it.
struct RuleRequest: Sendable, CustomTestStringConvertible {
  let section: String
  let text: String
  let isAllowed: Bool
  let rules: String
  let data: String

  var testDescription: String { "\(section): \(text)" }

  static let all: [RuleRequest] = {
    var (rules, data) = ("", "null")
    return RuleLine.all.compactMap { line -> RuleRequest? in
      switch line.word {
      case "rules": (rules, data) = (line.rest, "null")
      case "data": data = line.rest
      case "can", "cannot":
        return RuleRequest(
          section: line.section,
          text: line.rest,
          isAllowed: line.word == "can",
          rules: rules,
          data: data
        )
      default: break
      }
      return nil
    }
  }()

  func decision() throws -> Decision {
    let rules = try RuleSet(source: #"{"rules":\#(rules)}"#)
    let old = try Node(parsing: data)
    let words = text.split(separator: " ", maxSplits: 1).map { String($0) }
    guard words[0] == "write" else {
      return rules.canRead(Path(wire: words[1]), by: .nobody, now: 0, root: old)
    }
    var new = old
    var paths: [Path] = []
    for change in words[1].components(separatedBy: " ; ") {
      let parts = change.components(separatedBy: " = ")
      paths.append(Path(wire: parts[0]))
      new.update(at: paths[paths.count - 1], to: try Node(parsing: parts[1]))
    }
    return rules.canWrite(paths, by: .nobody, now: 0, from: old, to: new)
  }
}

@Suite("Rule lookup")
struct AccessTests {
  private func reads(_ rules: String, _ path: Path, _ data: String = "null") throws -> Bool {
    try RuleSet(source: #"{"rules":\#(rules)}"#)
      .canRead(path, by: .nobody, now: 0, root: try Node(parsing: data)).isAllowed
  }

  @Test("grants and validates requests as the rules say", arguments: RuleRequest.all)
  func request(_ request: RuleRequest) throws {
    #expect(try request.decision().isAllowed == request.isAllowed)
  }

  @Test("A key is found among many, and a missing one is not mistaken for its neighbor")
  func manyNames() throws {
    let names = (0..<20).map { "k\(2 * $0)" }
    let literals = names.map { "\"\($0)\":{\".read\":\"data.val() == 1\"}" }
    let other = #""$other":{".read":"data.val() == 2"}"#
    let rules = "{\((literals + [other]).joined(separator: ","))}"
    for name in names {
      #expect(try reads(rules, Path([ChildKey(name)]), "{\"\(name)\":1}"))
      #expect(try !reads(rules, Path([ChildKey(name)]), "{\"\(name)\":2}"))
    }
    for name in (0..<20).map({ "k\(2 * $0 + 1)" }) + ["a", "z", "0"] {
      #expect(try reads(rules, Path([ChildKey(name)]), "{\"\(name)\":2}"))
      #expect(try !reads(rules, Path([ChildKey(name)]), "{\"\(name)\":1}"))
    }
  }

  @Test("now is the time of the request")
  func now() throws {
    let rules = try RuleSet(source: #"{"rules":{".write":"newData.val() == now"}}"#)
    let time: Int64 = 1_700_000_000_123
    let stamped = Node.leaf(.deferred(.timestamp)).resolvingDeferred(
      existing: .empty,
      timestamp: time
    )
    #expect(rules.canWrite([.root], by: .nobody, now: time, from: .empty, to: stamped).isAllowed)
    #expect(
      !rules.canWrite([.root], by: .nobody, now: time + 1, from: .empty, to: stamped).isAllowed
    )
  }

  @Test("Keys that differ only in Unicode composition are distinct")
  func composition() throws {
    let rules = #"{"\u00e9":{".read":true},"$k":{".read":"$k == 'e\u0301'"}}"#
    #expect(try reads(rules, Path([ChildKey("\u{E9}")])))
    #expect(try reads(rules, Path([ChildKey("e\u{301}")])))
    #expect(try !reads(#"{"\u00e9":{".read":true}}"#, Path([ChildKey("e\u{301}")])))
  }
}
