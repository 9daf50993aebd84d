/// A blog of any number of posts as a file of its data.
enum SampleBlog {
  /// What the digits of keys are, in order.
  private static let digits = Array(
    "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
  )

  /// The key of a post; the newest has the highest number.
  static func key(_ number: Int) -> String {
    let places = [262_144, 4_096, 64, 1].map { String(digits[number / $0 % 64]) }
    return "-NjF" + places.joined() + String(repeating: "A", count: 12)
  }

  /// The title of a post; all are of one length, so that no blog has more to paint than another.
  static func title(_ number: Int) -> String {
    "Post number \(String(1_000_000 + number).dropFirst()) of many"
  }

  /// The data of so many posts, in the lists of all and of their authors.
  static func json(_ count: Int) -> String {
    let posts = (0..<count).map { number in
      """
      "\(key(number))":{"author":"ada \(number % 7)","body":"What the day was like, in a line or \
      two, and why it is worth telling: \(number).","starCount":0,"title":"\(title(number))",\
      "uid":"u\(number % 7)"}
      """
    }
    let own = (0..<7).map { author in
      let mine = stride(from: author, to: count, by: 7).map { posts[$0] }
      return "\"u\(author)\":{\(mine.joined(separator: ","))}"
    }
    return """
      {"posts":{\(posts.joined(separator: ","))},"user-posts":{\(own.joined(separator: ","))}}
      """
  }
}
