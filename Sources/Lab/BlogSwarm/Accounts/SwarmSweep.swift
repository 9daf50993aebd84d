private import RealtimeCore

/// Removes from a blog what some people have written there, as its administrator.
package struct SwarmSweep: Sendable {
  private let door: AdministratorDoor

  /// The most posts that go with one request.
  private static let postsAtOnce = 100

  /// Makes a sweep.
  ///
  /// - Parameter door: The way to the database.
  package init(_ door: AdministratorDoor) {
    self.door = door
  }

  /// Removes the posts of some people with all comments on them, and what is known of the people.
  ///
  /// - Parameter uids: Who they are.
  /// - Returns: How many posts there were.
  /// - Throws: `AdministratorDoor.Problem`, or what the connection reports.
  /// - Complexity: O(posts), a request for each hundred of them
  package func remove(_ uids: [String]) async throws -> Int {
    var count = 0
    for uid in uids {
      var rest = try await door.keys(of: "/user-posts/\(uid)")[...]
      count += rest.count
      repeat {
        let posts = rest.prefix(Self.postsAtOnce)
        rest = rest.dropFirst(posts.count)
        var paths = posts.flatMap { post in
          ["posts/\(post)", "post-comments/\(post)", "typing/\(post)", "user-posts/\(uid)/\(post)"]
        }
        if rest.isEmpty { paths += ["users", "seen", "presence"].map { "\($0)/\(uid)" } }
        try await door.patch("/", .object(paths.map { JSONMember($0, .null) }))
      } while !rest.isEmpty
    }
    return count
  }
}
