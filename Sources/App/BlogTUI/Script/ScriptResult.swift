/// How a script has run, for people and for tools that collect the results of tests.
package struct ScriptResult: Sendable {
  /// What tools read results in.
  package enum Format: String, CaseIterable, Sendable {
    /// A line for people.
    case text
    /// The Test Anything Protocol, version 14 (testanything.org).
    case tap
    /// XML as JUnit writes it, which most servers for continuous integration read.
    case junit
  }

  /// A step that was played, has failed, or was not reached.
  private enum Outcome {
    case passed
    case failed(String)
    case skipped
  }

  private let name: String
  private let script: Script
  private let playedSteps: Int
  private let failure: Script.Failure?
  private let screen: String

  package init(
    of name: String,
    _ script: Script,
    playedSteps: Int,
    failure: Script.Failure?,
    screen: String
  ) {
    self.name = name
    self.script = script
    self.playedSteps = playedSteps
    self.failure = failure
    self.screen = screen
  }

  /// The result in a format, with a line break at the end; empty for people if a step failed,
  /// because they are shown the screen instead.
  package func text(in format: Format) -> String {
    switch format {
    case .text: failure == nil ? summary : ""
    case .tap: tap
    case .junit: junit
    }
  }

  private var outcomes: [(line: Script.Line, outcome: Outcome)] {
    script.lines.enumerated().map { index, line in
      if let failure, line.number == failure.line { return (line, .failed(failure.reason)) }
      return (line, index < playedSteps ? .passed : .skipped)
    }
  }

  private var summary: String {
    let steps = script.lines.count
    guard playedSteps == steps else {
      return "\(SafeText(untrusted: name).string): the app was left after \(playedSteps) of "
        + "\(steps) steps\n"
    }
    let checks = script.lines.count { $0.step.isCheck }
    return "\(SafeText(untrusted: name).string): passed, \(steps.counted("step"))"
      + ", \(checks) of them \(checks == 1 ? "a check" : "checks")\n"
  }

  /// The rows of the screen, without those below the last that shows something.
  private var rows: [Substring] {
    var rows = screen.split(separator: "\n", omittingEmptySubsequences: false)
    while rows.last?.isEmpty == true { rows.removeLast() }
    return rows
  }

  // MARK: TAP

  private var tap: String {
    var text = "TAP version 14\n1..\(script.lines.count)\n"
    for (index, (line, outcome)) in outcomes.enumerated() {
      let title = "\(index + 1) - line \(line.number): \(Self.described(line.text))"
      switch outcome {
      case .passed: text += "ok \(title)\n"
      case .skipped: text += "ok \(title) # SKIP not reached\n"
      case .failed(let reason):
        text += "not ok \(title)\n  ---\n  message: \(Self.quoted(reason))\n  screen: |\n"
        text += rows.map { "    |\($0)\n" }.joined() + "  ...\n"
      }
    }
    return text
  }

  /// A description in which nothing counts as a directive.
  private static func described(_ text: String) -> String {
    SafeText(untrusted: text).string.replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }

  private static func quoted(_ text: String) -> String {
    let safe = SafeText(untrusted: text).string
    return "\"\(safe.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  // MARK: JUnit

  private var junit: String {
    let skipped = outcomes.count { if case .skipped = $0.outcome { true } else { false } }
    let suite = Self.escaped(name)
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuite name="\(suite)" tests="\(script.lines.count)" \
      failures="\(failure == nil ? 0 : 1)" skipped="\(skipped)">

      """
    for (line, outcome) in outcomes {
      let head =
        "  <testcase classname=\"\(suite)\" name=\"line \(line.number): \(Self.escaped(line.text))\""
      switch outcome {
      case .passed: text += head + "/>\n"
      case .skipped: text += head + "><skipped/></testcase>\n"
      case .failed(let reason):
        let rows = rows.map { Self.escaped(String($0)) }.joined(separator: "\n")
        text += head + "><failure message=\"\(Self.escaped(reason))\">\(rows)</failure>"
        text += "</testcase>\n"
      }
    }
    return text + "</testsuite>\n"
  }

  /// Text that may stand in an element and in an attribute; what XML cannot contain is replaced.
  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in SafeText(untrusted: text).string.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension Script.Step {
  /// Whether the step looks at something, rather than doing it.
  var isCheck: Bool {
    switch self {
    case .waitFor, .waitIdle, .expect, .refuse, .data: true
    case .keys, .command, .size, .pause, .clock, .other, .change: false
    }
  }
}
