import BlogModel
import RealtimeCore

/// Tells what is wrong in a blog, and what was done about it.
struct FsckReport {
  /// How often the blog is looked at again, since one repair may bring another to light.
  private static let rounds = 4

  let isJSON: Bool
  private var repaired = 0
  /// What was left, so that it is told once.
  private var left: Set<BlogFault> = []

  init(isJSON: Bool) {
    self.isJSON = isJSON
  }

  /// Says "no fault", or how many there are.
  static func summary(_ count: Int) -> String {
    count == 0 ? "no fault" : ProgressLine.count(count, "fault")
  }

  // MARK: Repairing

  /// Repairs what a check has found, and looks again until nothing more can be done.
  ///
  /// - Returns: The last check.
  mutating func repair(
    _ first: BlogCheck,
    with blog: BlogRepair,
    checkingAgain check: () async throws -> BlogCheck
  ) async throws -> BlogCheck {
    var found = first
    for _ in 0..<Self.rounds {
      let faults = (found.faults + found.leftovers).filter { !left.contains($0) }
      if faults.isEmpty { break }
      for fault in faults {
        switch try await blog.repair(fault) {
        case .repaired(let what):
          repaired += 1
          tell(fault, outcome: "repaired", remedy: what)
        case .gone: break
        case .left(let why):
          left.insert(fault)
          tell(fault, outcome: "left", remedy: why)
        }
      }
      found = try await check()
    }
    return found
  }

  // MARK: Telling

  /// Tells a fault that nothing was done about.
  func tell(_ fault: BlogFault) {
    tell(fault, outcome: "found", remedy: fault.remedy.description)
  }

  private func tell(_ fault: BlogFault, outcome: String, remedy what: String) {
    if isJSON {
      Output.line(
        .object(
          ("path", .string(fault.path)),
          ("problem", .string(fault.problem)),
          ("outcome", .string(outcome)),
          ("remedy", .string(what))
        )
      )
    } else {
      let verb = outcome == "found" ? "to do" : outcome
      Output.line(untrusted: "\(fault) (\(verb): \(what))")
    }
  }

  /// Tells how much was looked at, and how it ends.
  func finish(_ check: BlogCheck) {
    if isJSON {
      Output.line(
        .object(
          ("posts", .integer(Int64(check.postCount))),
          ("comments", .integer(Int64(check.commentCount))),
          ("stars", .integer(Int64(check.starCount))),
          ("faults", .integer(Int64(check.faults.count))),
          ("leftovers", .integer(Int64(check.leftovers.count))),
          ("repaired", .integer(Int64(repaired)))
        )
      )
      return
    }
    let looked = [
      ProgressLine.count(check.postCount, "post"),
      ProgressLine.count(check.commentCount, "comment"),
      ProgressLine.count(check.starCount, "star"),
    ]
    var line = "\(looked.joined(separator: ", ")): \(Self.summary(check.faults.count))"
    if repaired > 0 { line += ", \(repaired) repaired" }
    if !check.leftovers.isEmpty {
      line += ", \(ProgressLine.count(check.leftovers.count, "trace")) of what is gone"
    }
    Output.line(line)
  }
}
