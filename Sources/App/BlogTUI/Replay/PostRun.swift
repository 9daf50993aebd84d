import BlogModel

/// A part of a list of posts: posts that were in the list before, or a post that is new or changed.
///
/// A list of hundreds of posts in which one has another star costs a line of two hundred bytes.
enum PostRun: Hashable {
  /// So many posts of the list before, from that place.
  case kept(start: Int, count: Int)
  /// A post.
  case post(Post)

  /// Tells a list by what has changed since it was told last.
  ///
  /// - Complexity: O(n) in the posts of both lists.
  static func runs(of posts: [Post], since before: [Post]) -> [PostRun] {
    var places: [PostID: Int] = [:]
    for (place, post) in before.enumerated() { places[post.id] = place }
    var runs: [PostRun] = []
    for post in posts {
      guard let place = places[post.id], before[place] == post else {
        runs.append(.post(post))
        continue
      }
      if case .kept(let start, let count)? = runs.last, start + count == place {
        runs[runs.count - 1] = .kept(start: start, count: count + 1)
      } else {
        runs.append(.kept(start: place, count: 1))
      }
    }
    return runs
  }

  /// The list again; nil when the runs do not belong to the list before.
  static func posts(of runs: [PostRun], since before: [Post]) -> [Post]? {
    var posts: [Post] = []
    for run in runs {
      switch run {
      case .kept(let start, let count):
        guard start >= 0, count > 0, start < before.count, count <= before.count - start else {
          return nil
        }
        posts += before[start..<(start + count)]
      case .post(let post): posts.append(post)
      }
    }
    return posts
  }
}

extension PostRun: Codable {
  init(from decoder: any Decoder) throws {
    if var numbers = try? decoder.unkeyedContainer() {
      self = .kept(start: try numbers.decode(Int.self), count: try numbers.decode(Int.self))
    } else {
      self = .post(try Post(from: decoder))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .kept(let start, let count):
      var numbers = encoder.unkeyedContainer()
      try numbers.encode(start)
      try numbers.encode(count)
    case .post(let post): try post.encode(to: encoder)
    }
  }
}
