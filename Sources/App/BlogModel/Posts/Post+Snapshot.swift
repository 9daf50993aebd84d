private import RealtimeCore
package import RealtimeDatabase

extension Post {
  /// Reads a post; nil when there is none.
  ///
  /// Others may have written anything: what is missing or of the wrong kind counts as empty.
  package init?(_ snapshot: DataSnapshot) {
    let node = snapshot.node
    guard node.childCount > 0 else { return nil }
    let stars = node[.stars].children?.map.compactMap { entry in
      entry.value.leafValue == .bool(true) ? entry.key.text : nil
    }
    self.init(
      id: snapshot.key,
      uid: node.text(.uid),
      author: node.text(.author),
      title: node.text(.title),
      body: node.text(.body),
      starCount: node[.starCount].leafValue?.number.flatMap { Int(exactly: $0.rounded()) } ?? 0,
      stars: Set(stars ?? []),
      createdAt: PushID.time(of: snapshot.key)
    )
  }

  /// The post as it is stored, in both places.
  var storedValue: [String: any Sendable] {
    ["uid": uid, "author": author, "title": title, "body": body, "starCount": starCount]
  }
}

extension Comment {
  /// Reads a comment; nil when there is none.
  package init?(_ snapshot: DataSnapshot) {
    let node = snapshot.node
    guard node.childCount > 0 else { return nil }
    self.init(
      id: snapshot.key,
      uid: node.text(.uid),
      author: node.text(.author),
      text: node.text(.commentText),
      createdAt: PushID.time(of: snapshot.key)
    )
  }

  /// The comment as it is stored.
  var storedValue: [String: any Sendable] {
    ["uid": uid, "author": author, "text": text]
  }
}

extension Node {
  /// The text of a child, empty when it is no text.
  fileprivate func text(_ key: ChildKey) -> String {
    if case .string(let text)? = self[key].leafValue { text } else { "" }
  }
}
