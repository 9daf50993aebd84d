package import BlogModel

/// What to look for in posts; upper and lower case are the same.
package struct SearchPattern: Hashable, Sendable {
  private let needle: [UInt8]

  /// Makes a pattern, or nil of a text that everything matches.
  package init?(_ text: String) {
    guard !text.isEmpty else { return nil }
    needle = Array(text.lowercased().utf8)
  }

  /// Tells whether the title, the author or the text of the post contains the pattern.
  ///
  /// - Complexity: O(n) in the length of the post, for the patterns that people type.
  package func matches(_ post: Post) -> Bool {
    contains(post.title) || contains(post.author) || contains(post.body)
  }

  private func contains(_ text: String) -> Bool {
    let hay = Array(text.lowercased().utf8)
    guard hay.count >= needle.count else { return false }
    return (0...(hay.count - needle.count)).contains { start in
      hay[start] == needle[0] && hay[start..<(start + needle.count)].elementsEqual(needle)
    }
  }
}
