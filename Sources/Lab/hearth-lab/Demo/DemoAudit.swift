import RealtimeCore

/// Looks for contradictions in a blog as the server's own interface shows it, not the client library.
///
/// Every count is the number of its stars, always. Each post has an equal copy, which follows within
/// moments, so a copy that is behind is only suspicious until it stays so.
struct DemoAudit: Sendable {
  /// How many posts there are.
  private(set) var posts = 0
  /// How many stars there are.
  private(set) var stars = 0
  /// What is wrong.
  private(set) var violations: [String] = []
  /// The posts whose copies are not equal at this moment.
  private(set) var behind: Set<String> = []

  /// Looks through the data of a whole database.
  ///
  /// - Complexity: O(size)
  init(_ root: JSONValue) {
    let copies = root["user-posts"]
    for member in root["posts"]?.members ?? [] {
      posts += 1
      let post = member.value
      let count = post["stars"]?.members?.count ?? 0
      stars += count
      let told = post["starCount"]?.integer ?? 0
      if told != Int64(count) {
        violations.append("/posts/\(member.name): starCount is \(told), stars are \(count)")
      }
      let copy = post["uid"]?.string.flatMap { copies?[$0]?[member.name] }
      if copy != post { behind.insert(member.name) }
    }
    for owner in copies?.members ?? [] {
      for copy in owner.value.members ?? [] where root["posts"]?[copy.name] == nil {
        behind.insert(copy.name)
      }
    }
  }

  /// The stars of a post by its title: how many are counted and how many there are.
  static func stars(of title: String, in root: JSONValue) -> (counted: Int64, given: Int)? {
    let posts = root["posts"]?.members ?? []
    guard let post = posts.first(where: { $0.value["title"]?.string == title })?.value else {
      return nil
    }
    return (post["starCount"]?.integer ?? 0, post["stars"]?.members?.count ?? 0)
  }

  /// How many posts have that title.
  static func count(of title: String, in root: JSONValue) -> Int {
    (root["posts"]?.members ?? []).count { $0.value["title"]?.string == title }
  }
}
