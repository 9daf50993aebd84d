import RealtimeCore

/// Every state that each post has had, in the order of the commits.
struct PostVersions: Sendable {
  /// A post after a commit.
  struct Version: Sendable {
    let revision: Int64
    let starCount: Int
    let stars: Int
    let hash: String

    init(_ revision: Int64, _ post: Node) {
      self.revision = revision
      starCount = post.starCount ?? 0
      stars = post[.stars].childCount
      hash = post.hash
    }

    /// Whether this is what was shown.
    func isShown(_ count: Int, _ stars: Int, _ version: String?) -> Bool {
      starCount == count && self.stars == stars && version.map { $0 == hash } ?? true
    }
  }

  /// How something shown fits into the order of the commits.
  enum Fit {
    case follows(Int)
    case older(Version)
    case never
  }

  private var versions: [String: [Version]] = [:]
  /// Whether commits were missed, so that something may have been shown that nobody knows.
  private(set) var hasGaps = false

  init(_ testimony: Testimony) {
    for (key, post) in testimony.root[.posts].entries {
      versions[key.text] = [Version(testimony.revision, post)]
    }
  }

  mutating func observe(_ step: Step) {
    if step.isJump { hasGaps = true }
    for key in step.touched.posts {
      let post = step.after[.posts][key]
      guard !post.isEmpty, post != step.before[.posts][key] else { continue }
      versions[key.text, default: []].append(Version(step.revision, post))
    }
  }

  /// Finds the first state of a post from a position on that is what was shown.
  func fit(
    _ post: String,
    starCount: Int,
    stars: Int,
    version: String?,
    from position: Int
  ) -> Fit {
    let known = versions[post] ?? []
    func isShown(_ candidate: Version) -> Bool { candidate.isShown(starCount, stars, version) }
    if let index = known.indices.dropFirst(position).first(where: { isShown(known[$0]) }) {
      return .follows(index)
    }
    return known.last(where: isShown).map(Fit.older) ?? .never
  }
}
