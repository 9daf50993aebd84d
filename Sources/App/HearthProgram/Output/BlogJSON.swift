import BlogModel
import RealtimeCore

extension Post {
  /// The post as commands print it.
  var json: JSONValue {
    .object(
      ("id", .string(id)),
      ("uid", .string(uid)),
      ("author", .string(author)),
      ("title", .string(title)),
      ("body", .string(body)),
      ("starCount", .integer(Int64(starCount))),
      ("stars", .object(stars.sorted().map { JSONMember($0, .bool(true)) })),
      ("createdAt", createdAt.map { .integer($0) } ?? .null)
    )
  }
}

extension Comment {
  /// The comment as commands print it.
  var json: JSONValue {
    .object(
      ("id", .string(id)),
      ("uid", .string(uid)),
      ("author", .string(author)),
      ("text", .string(text)),
      ("createdAt", createdAt.map { .integer($0) } ?? .null)
    )
  }
}
