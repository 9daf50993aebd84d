import RealtimeCore

/// A number that is only added to is the sum of what was acknowledged, give or take what is unknown.
struct CounterSums: Invariant {
  static let promises: [Promise] = [.i5]
  static let statement = "a counter is the sum of its acknowledged increments"

  private struct Sum {
    var acknowledged: Int64 = 0
    var least: Int64 = 0
    var most: Int64 = 0
    var unknown: [String] = []
  }

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

  mutating func conclude() {
    var sums: [Path: Sum] = [:]
    for operation in evidence.history.operations {
      guard case .increment(let path, let amount) = operation.intent else { continue }
      let place = Path(wire: path)
      switch operation.outcome {
      case .refused: continue
      case .ok: sums[place, default: Sum()].acknowledged += amount
      case .unknown:
        sums[place, default: Sum()].unknown.append("\(operation)")
        if amount < 0 {
          sums[place, default: Sum()].least += amount
        } else {
          sums[place, default: Sum()].most += amount
        }
      }
    }
    for (path, sum) in sums.sorted(by: { $0.key < $1.key }) {
      let start = Self.number(at: path, of: evidence.testimony.root)
      let end = Self.number(at: path, of: evidence.finalRoot)
      let settled = (start ?? 0) + sum.acknowledged
      let range = settled + sum.least...settled + sum.most
      findings.expect(
        end.map(range.contains) ?? false,
        at: "\(path)",
        "the number is \(end.map(String.init) ?? "missing"), and must be "
          + (range.count == 1
            ? "\(settled)" : "between \(range.lowerBound) and \(range.upperBound)")
      ) { ["\(start ?? 0) at the beginning, \(sum.acknowledged) acknowledged"] + sum.unknown }
    }
  }

  /// The number at a path; a place where nothing is counts as 0.
  private static func number(at path: Path, of root: Node) -> Int64? {
    let node = root[path]
    return node.isEmpty ? 0 : node.leafValue?.number.flatMap { Int64(exactly: $0) }
  }
}
