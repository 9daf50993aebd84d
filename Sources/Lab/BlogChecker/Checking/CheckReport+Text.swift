package import RealtimeCore

extension CheckReport {
  /// The report as a table for people, with the first violations below it.
  ///
  /// What is quoted in it was written by others: it is to be made safe before it is printed.
  package var text: String {
    let width = lines.map(\.statement.count).max() ?? 0
    var rows = [
      "\(Self.padded("promise", 8)) \(Self.padded("what it says", width))    checked  violations"
    ]
    for line in lines {
      rows.append(
        "\(Self.padded(line.name, 8)) \(Self.padded(line.statement, width)) "
          + "\(Self.padded(String(line.checked), 10, isNumber: true)) "
          + "\(Self.padded(String(line.violationCount), 11, isNumber: true))"
      )
    }
    rows.append(
      "\(activity.clients) clients, \(activity.operations) operations "
        + "(\(activity.acknowledged) acknowledged, \(activity.refused) refused, "
        + "\(activity.unknown) unknown), \(activity.shown) shown, \(activity.commits) commits, "
        + "\(activity.gaps) gaps, \(activity.crashes) crashes"
    )
    for line in lines where line.violationCount > 0 {
      rows.append("")
      rows.append("\(line.name): \(line.violationCount) violations")
      for violation in line.violations.prefix(3) {
        rows.append("  \(violation.place): \(violation.problem)")
        rows += violation.evidence.map { "    \($0)" }
      }
    }
    rows.append(verdictText)
    return rows.joined(separator: "\n")
  }

  private var verdictText: String {
    switch verdict {
    case .held: "violations: 0"
    case .violated: "violations: \(violationCount)"
    case .tooLittle(let shortages):
      "too little was done to mean anything: \(shortages.joined(separator: ", "))"
    }
  }

  private static func padded(_ text: String, _ width: Int, isNumber: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - text.count))
    return isNumber ? blanks + text : text + blanks
  }

  /// The report for programs.
  package var json: JSONValue {
    .object(
      ("verdict", .string(verdictName)),
      ("violations", .integer(Int64(violationCount))),
      ("activity", activity.json),
      ("promises", .array(lines.map(\.json)))
    )
  }

  private var verdictName: String {
    switch verdict {
    case .held: "held"
    case .violated: "violated"
    case .tooLittle: "too little"
    }
  }
}

extension CheckReport.Line {
  fileprivate var json: JSONValue {
    .object(
      ("name", .string(name)),
      ("statement", .string(statement)),
      ("checked", .integer(Int64(checked))),
      ("violations", .integer(Int64(violationCount))),
      (
        "first",
        .array(
          violations.map { violation in
            .object(
              ("place", .string(violation.place)),
              ("problem", .string(violation.problem)),
              ("evidence", .array(violation.evidence.map { .string($0) }))
            )
          }
        )
      )
    )
  }
}

extension Activity {
  fileprivate var json: JSONValue {
    let counts = [
      ("clients", clients), ("operations", operations), ("acknowledged", acknowledged),
      ("refused", refused), ("unknown", unknown), ("comments", comments), ("stars", stars),
      ("shown", shown), ("commits", commits), ("gaps", gaps), ("crashes", crashes),
    ]
    return .object(counts.map { JSONMember($0.0, .integer(Int64($0.1))) })
  }
}
