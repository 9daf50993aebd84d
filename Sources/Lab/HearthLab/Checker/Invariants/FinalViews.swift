import RealtimeCore

/// When everything is quiet, every client shows what the database has, and screens agree.
struct Convergence: Invariant {
  static let promises: [Promise] = [.i6, .g7]
  static let statement = "idle clients all show what the database has"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    var screens: [String: (terminal: String, lines: [String])] = [:]
    for client in evidence.history.clients {
      for (view, time) in client.finalViews.values {
        check(view, of: "\(client.header.client) at \(time.microseconds) µs")
      }
      for case .screen(let screen) in client.lines.map(\.event) {
        check(screen, against: screens[screen.group])
        if screens[screen.group] == nil {
          screens[screen.group] = (screen.terminal, screen.lines)
        }
      }
    }
  }

  private mutating func check(_ view: FinalView, of client: String) {
    let expected = view.query.evaluate(evidence.finalRoot[Path(wire: view.path)])
    findings.expect(
      expected.hash == view.digest,
      at: client,
      otherwise: "the view \"\(view.view)\" of \(view.path) is not what the database has"
    ) { ["database: \(expected.keys.count) children, hash \(expected.hash)"] }
  }

  private mutating func check(
    _ screen: CapturedScreen,
    against other: (terminal: String, lines: [String])?
  ) {
    if let other {
      findings.expect(
        screen.lines == other.lines,
        at: "screen \(screen.group) of \(screen.terminal)",
        otherwise: "it differs from the same screen of \(other.terminal)"
      ) { Self.differences(of: screen.lines, from: other.lines) }
    }
    var stars: [String: Set<Int>] = [:]
    for post in evidence.finalRoot[.posts].entries.map(\.value) {
      guard let title = post.text(.title), let count = post.starCount else { continue }
      stars[title, default: []].insert(count)
    }
    for row in screen.rows {
      findings.expect(
        stars[row.title]?.contains(row.stars) ?? false,
        at: "screen \(screen.group) of \(screen.terminal)",
        otherwise: "it shows \(Words.count(row.stars, "star")) for \"\(row.title)\""
      ) { ["database: \(stars[row.title].map { "\($0.sorted())" } ?? "no such post")"] }
    }
  }

  private static func differences(of left: [String], from right: [String]) -> [String] {
    let count = max(left.count, right.count)
    return (0..<count).filter { line in
      left.dropFirst(line).first != right.dropFirst(line).first
    }.prefix(5).map { line in
      "line \(line): \"\(left.dropFirst(line).first ?? "")\""
        + " and \"\(right.dropFirst(line).first ?? "")\""
    }
  }
}

extension ClientHistory {
  /// The last content of each of the client's views, by name.
  var finalViews: [String: (view: FinalView, time: Moment)] {
    var views: [String: (view: FinalView, time: Moment)] = [:]
    for line in lines {
      if case .finalView(let view) = line.event { views[view.view] = (view, line.time) }
    }
    return views
  }
}

extension FinalView {
  /// The query that the view shows at its path.
  var query: Query {
    Query(
      index: orderedBy.map { .child(Path(wire: $0)) } ?? .key,
      limit: limit.map { Query.Limit($0, side: .last) }
    )
  }
}

struct ScreenIntegrity: Invariant {
  static let promises: [Promise] = [.i13]
  static let statement = "no character on a screen controls the terminal"

  let evidence: Evidence
  var findings: Findings

  mutating func conclude() {
    for client in evidence.history.clients {
      for case .screen(let screen) in client.lines.map(\.event) {
        let location = "screen \(screen.group) of \(screen.terminal)"
        for (number, line) in screen.lines.enumerated() {
          let scalars = line.unicodeScalars.filter(Self.isSteering)
          findings.expect(
            scalars.isEmpty,
            at: "\(location), line \(number)",
            otherwise: "it contains terminal control characters"
          ) { [scalars.map { "U+" + String($0.value, radix: 16) }.joined(separator: " ")] }
        }
      }
    }
  }

  /// Whether a character moves the cursor, changes the direction of text, or is invisible.
  private static func isSteering(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF:
      true
    default: false
    }
  }
}
