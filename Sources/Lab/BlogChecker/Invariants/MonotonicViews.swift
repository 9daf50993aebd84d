/// No view goes back: what is shown after a state of a post is that state or a later one.
struct MonotonicViews: Invariant {
  static let promises: [Promise] = [.i8]
  static let statement = "nothing older is shown after something newer"

  private struct Place: Hashable {
    let view: String
    let post: String
  }

  /// What was shown last at a place.
  private struct Seen {
    var life: Int
    var revision = Int64.min
    var position = 0
  }

  private let evidence: Evidence
  private var versions: PostVersions
  private(set) var findings = Findings()

  init(_ evidence: Evidence) {
    self.evidence = evidence
    versions = PostVersions(evidence.testimony)
  }

  mutating func observe(_ step: Step) { versions.observe(step) }

  mutating func conclude() {
    for client in evidence.history.clients { check(client) }
  }

  private mutating func check(_ client: ClientHistory) {
    var seen: [Place: Seen] = [:]
    for shown in ShownPosts(client) {
      let place = Place(view: shown.showing.view, post: shown.post)
      let name = "\(client.header.client), \(shown.showing.view), event \(shown.showing.order)"
      var last = seen[place] ?? Seen(life: shown.life)
      if last.life != shown.life {
        // What a new process shows first may be what was kept of an earlier one.
        if shown.age <= evidence.options.echo { continue }
        last.life = shown.life
      }
      if let revision = shown.showing.revision {
        findings.expect(
          last.revision <= revision,
          at: name,
          "post \(shown.post) of revision \(revision) is shown after that of \(last.revision)"
        )
        last.revision = revision
      }
      let fit = versions.fit(
        shown.post,
        starCount: shown.starCount,
        stars: shown.stars,
        version: shown.version,
        from: last.position
      )
      switch fit {
      case .follows(let position):
        findings.held()
        last.position = position
      case .older(let version):
        findings.expect(
          versions.hasGaps,
          at: name,
          "post \(shown.post) is shown with \(shown.starCount) stars, which it had before"
        ) { ["that is of revision \(version.revision)"] }
      case .never: break
      }
      seen[place] = last
    }
  }
}
