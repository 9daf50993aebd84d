import RealtimeCore

/// When everything is quiet, every client shows what the database has, and screens agree.
struct Convergence: Invariant {
  static let promises: [Promise] = [.i6, .g7]
  static let statement = "quiet clients all show what the database has"

  private let evidence: Evidence
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
  }

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
      "the view \"\(view.view)\" of \(view.path) is not what the database has"
    ) {
      guard let content = view.content, let shown = try? Node(json: content) else {
        return ["database: \(expected.keys.count) children, hash \(expected.hash)"]
      }
      return shown.differences(from: expected).prefix(5).map { key in
        "\(key): shown \(shown[key].summary), database \(expected[key].summary)"
      }
    }
  }

  private mutating func check(
    _ screen: CapturedScreen,
    against other: (terminal: String, lines: [String])?
  ) {
    if let other {
      findings.expect(
        screen.lines == other.lines,
        at: "screen \(screen.group) of \(screen.terminal)",
        "it differs from the same screen of \(other.terminal)"
      ) { Self.differences(screen.lines, other.lines) }
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
        "it shows \(row.stars) stars for \"\(row.title)\""
      ) { ["database: \(stars[row.title].map { "\($0.sorted())" } ?? "no such post")"] }
    }
  }

  private static func differences(_ left: [String], _ right: [String]) -> [String] {
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
  /// What each view of the client had last, by name.
  var finalViews: [String: (view: FinalView, time: Moment)] {
    var views: [String: (view: FinalView, time: Moment)] = [:]
    for line in lines {
      if case .finalView(let view) = line.event { views[view.view] = (view, line.time) }
    }
    return views
  }
}

extension FinalView {
  /// What the view shows of its location.
  var query: Query {
    Query(
      index: orderedBy.map { .child(Path(wire: $0)) } ?? .key,
      limit: limit.map { Query.Limit($0, .last) }
    )
  }
}
