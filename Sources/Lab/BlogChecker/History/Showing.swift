import RealtimeCore

/// What a listener of a client was told, and so what its screen showed from then on.
package struct Showing: Hashable, Sendable {
  /// What is shown.
  package enum Content: Hashable, Sendable {
    /// A post, with the number it says, the number of its stars, and whether mine is one of them.
    ///
    /// The version is the hash of the data of the post, where the client knows it.
    case post(String, starCount: Int, stars: Int, isMine: Bool, version: String?)
    /// A post is no longer shown.
    case postGone(String)
    /// All comments on a post, in the order shown, when they are those of the server.
    case comments(post: String, keys: [String])
  }

  /// The name of the view within the client, such as "recent" or "comments/KEY".
  package var view: String
  /// The number of the event within the view, counted from 1 in each process.
  package var order: Int
  /// What is shown.
  package var content: Content
  /// The revision that the data are of, where the client knows it.
  package var revision: Int64?

  /// Makes a showing.
  package init(view: String, order: Int, content: Content, revision: Int64? = nil) {
    self.view = view
    self.order = order
    self.content = content
    self.revision = revision
  }

  var members: [JSONMember] {
    var members = [
      JSONMember("view", .string(view)),
      JSONMember("order", .integer(Int64(order))),
    ]
    if let revision { members.append(JSONMember("revision", .integer(revision))) }
    switch content {
    case .post(let key, let starCount, let stars, let isMine, let version):
      members += [
        JSONMember("what", .string("post")),
        JSONMember("post", .string(key)),
        JSONMember("starCount", .integer(Int64(starCount))),
        JSONMember("stars", .integer(Int64(stars))),
        JSONMember("mine", .bool(isMine)),
      ]
      if let version { members.append(JSONMember("version", .string(version))) }
    case .postGone(let key):
      members += [JSONMember("what", .string("gone")), JSONMember("post", .string(key))]
    case .comments(let post, let keys):
      members += [
        JSONMember("what", .string("comments")),
        JSONMember("post", .string(post)),
        JSONMember("keys", .array(keys.map { .string($0) })),
      ]
    }
    return members
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    view = try fields.text("view")
    order = Int(try fields.integer("order"))
    revision = fields.optionalInteger("revision")
    let post = try fields.text("post")
    switch try fields.text("what") {
    case "post":
      content = .post(
        post,
        starCount: Int(try fields.integer("starCount")),
        stars: Int(try fields.integer("stars")),
        isMine: try fields.bool("mine"),
        version: fields.optionalText("version")
      )
    case "gone": content = .postGone(post)
    case "comments": content = .comments(post: post, keys: try fields.texts("keys"))
    default: throw fields.missing("what")
    }
  }
}
