#if DEBUG
private import RealtimeCore

/// Makes one mistake on purpose, as close as possible to where a real one would be.
struct BugInjector: Sendable {
  let bug: InjectedBug
  let settings: SwarmSettings
  /// Writes past the rules and the clients.
  let admin: AdminClient
  let crews: [CrewProcess]

  /// Whether the mistake is made while the users work, rather than after they have finished.
  var isEarly: Bool {
    switch bug {
    case .staleRead, .oldRead, .forgottenComment, .divergingView: true
    case .lostWrite, .doubleApply, .halfUpdate, .reorderedComments, .lostIncrement, .countDrift,
      .phantomComment, .stuckPresence, .deniedWrite, .unboundedMemory:
      false
    }
  }

  /// Makes the mistake.
  func inject(_ history: History) async throws {
    switch bug {
    case .staleRead, .oldRead, .forgottenComment, .divergingView:
      await crews.first?.tell(.misbehave(bug))
    case .lostWrite:
      let (post, key, _) = try await comments(of: 1)
      try await admin.put(.null, at: "/post-comments/\(post)/\(key[0])")
    case .doubleApply:
      let (post, _, values) = try await comments(of: 1)
      try await admin.put(values[0], at: "/post-comments/\(post)/-zzzzzzzzzzzzzzzzzzz")
    case .reorderedComments:
      let (post, keys, values) = try await comments(of: 2)
      try await admin.patch(
        "/post-comments/\(post)",
        with: .object((keys[0], values[1]), (keys[1], values[0]))
      )
    case .phantomComment:
      let (post, _, values) = try await comments(of: 1)
      let phantom: JSONFields = [
        "uid": values[0]["uid"], "author": values[0]["author"], "text": "nobody wrote this",
      ]
      try await admin.put(phantom.object, at: "/post-comments/\(post)/-zzzzzzzzzzzzzzzzzzz")
    case .halfUpdate:
      let (id, owner, _) = try await post()
      try await admin.put(.string("only here"), at: "/user-posts/\(owner)/\(id)/body")
    case .lostIncrement:
      let path = SwarmCounters.shared(0)
      let number = try await admin.get(path).integer ?? 0
      try await admin.put(.integer(number - 1), at: path)
    case .countDrift:
      let (id, owner, count) = try await post()
      let wrong = JSONValue.integer(count + 1)
      try await admin.patch(
        "/",
        with: .object(
          ("posts/\(id)/starCount", wrong),
          ("user-posts/\(owner)/\(id)/starCount", wrong)
        )
      )
    case .stuckPresence:
      let uid = settings.uid(0)
      let entry: JSONFields = ["name": SwarmSettings.name(0), "terminal": "gone", "since": 1]
      try await admin.put(entry.object, at: "/presence/\(uid)/ghost")
    case .deniedWrite: try await applyDenied(history)
    case .unboundedMemory: try await fillMemory()
    }
  }

  /// The first comments by one author on one post.
  private func comments(
    of count: Int
  ) async throws -> (post: String, keys: [String], values: [JSONValue]) {
    for post in try await admin.get("/post-comments").members ?? [] {
      let byAuthor = Dictionary(grouping: post.value.members ?? []) {
        $0.value["uid"]?.string ?? ""
      }
      for (author, list) in byAuthor.sorted(by: { $0.key < $1.key })
      where list.count >= count && !author.isEmpty {
        let chosen = list.prefix(count)
        return (post.name, chosen.map(\.name), chosen.map(\.value))
      }
    }
    throw SwarmProblem("nobody has written \(count) comments on one post")
  }

  private func post() async throws -> (id: String, owner: String, count: Int64) {
    let members = Set((0..<settings.users).map(settings.uid))
    for post in try await admin.get("/posts").members ?? [] {
      guard let owner = post.value["uid"]?.string, members.contains(owner) else { continue }
      return (post.name, owner, post.value["starCount"]?.integer ?? 0)
    }
    throw SwarmProblem("there is no post")
  }

  /// Carries out a change that the rules have refused, in both copies of the post.
  private func applyDenied(_ history: History) async throws {
    for operation in history.operations where operation.isRefused {
      guard operation.intent.isForbidden, let post = operation.intent.post else { continue }
      let data = try await admin.get("/posts/\(post)")
      guard let owner = data["uid"]?.string else { continue }
      let changes: [(String, JSONValue)]
      switch operation.intent {
      case .editOther(_, let title): changes = [("title", .string(title))]
      case .starAs(_, let uid):
        let count = data["starCount"]?.integer ?? 0
        changes = [("stars/\(uid)", .bool(true)), ("starCount", .integer(count + 1))]
      default: continue
      }
      let copies = ["posts/\(post)", "user-posts/\(owner)/\(post)"]
      return try await admin.patch(
        "/",
        with: .object(
          copies.flatMap { copy in changes.map { JSONMember("\(copy)/\($0.0)", $0.1) } }
        )
      )
    }
    throw SwarmProblem("nothing was refused")
  }

  private func fillMemory() async throws {
    let block = JSONValue.string(String(repeating: "x", count: 4_000_000))
    for number in 0..<20 { try await admin.put(block, at: "/ballast/\(number)") }
  }
}
#endif
