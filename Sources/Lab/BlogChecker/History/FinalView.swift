package import RealtimeCore

/// What a client showed at a location when everything was quiet.
package struct FinalView: Hashable, Sendable {
  /// The name of the view within the client.
  package var view: String
  /// The location, such as "/posts".
  package var path: String
  /// The child that the view is ordered by, or nil for the order of the keys.
  package var orderedBy: String?
  /// How many of the last children the view has, or nil for all.
  package var limit: Int?
  /// The hash of the data that the client has there (`Node.hash`).
  package var digest: String
  /// The data themselves as the client has them, where they are to be looked into.
  package var content: JSONValue?

  /// Makes a final view.
  package init(
    view: String,
    path: String,
    orderedBy: String? = nil,
    limit: Int? = nil,
    digest: String,
    content: JSONValue? = nil
  ) {
    self.view = view
    self.path = path
    self.orderedBy = orderedBy
    self.limit = limit
    self.digest = digest
    self.content = content
  }

  var members: [JSONMember] {
    [
      JSONMember("view", .string(view)),
      JSONMember("path", .string(path)),
      JSONMember("orderedBy", orderedBy.map { .string($0) } ?? .null),
      JSONMember("limit", limit.map { .integer(Int64($0)) } ?? .null),
      JSONMember("digest", .string(digest)),
      JSONMember("content", content ?? .null),
    ]
  }

  init(_ fields: HistoryFields) throws(HistoryError) {
    view = try fields.text("view")
    path = try fields.text("path")
    orderedBy = fields.optionalText("orderedBy")
    limit = fields.optionalInteger("limit").map { Int($0) }
    digest = try fields.text("digest")
    content = fields.value("content")
  }
}
