import BlogModel
import RealtimeCore

/// Reports what is wrong in a blog, and what was done about it.
struct FsckReport {
  /// How often the blog is checked again, since one repair may reveal another fault.
  private static let rounds = 4

  let isJSON: Bool
  private var repaired = 0
  /// The faults that were left, so that each is reported once.
  private var left: Set<BlogFault> = []

  init(isJSON: Bool) {
    self.isJSON = isJSON
  }

  /// Returns "no fault", or the number of faults.
  static func summary(_ count: Int) -> String {
    count == 0 ? "no fault" : ProgressLine.count(count, "fault")
  }

  // MARK: Repairing

  /// Repairs the faults that a check has found, and checks again until nothing more can be done.
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

  /// Reports a fault that was not repaired.
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

  /// Reports how much was checked, and the result.
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
