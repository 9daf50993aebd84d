internal import RealtimeCore
internal import RealtimeTransport

/// Reads the parameters that select and order children.
///
/// A query is carried out even if no index covers its order.
struct QueryParameters {
  fileprivate static let names = [
    "startAt", "startAfter", "endAt", "endBefore", "equalTo", "limitToFirst", "limitToLast",
  ]

  private let parameters: [(name: String, value: String)]
  /// Whether only keys are requested; the default order is then by key.
  private let isShallow: Bool

  /// The query, or nil when no parameter asks for one; an error names the parameter that is wrong.
  static func query(
    of parameters: [(name: String, value: String)],
    isShallow: Bool
  ) throws(RESTError) -> Query? {
    let reader = QueryParameters(parameters: parameters, isShallow: isShallow)
    guard let index = try reader.index() else { return nil }
    let start = try reader.bound("startAt", or: "startAfter", by: index)
    let end = try reader.bound("endAt", or: "endBefore", by: index)
    let equal = try reader.bound("equalTo", or: nil, by: index)
    if equal != nil, start != nil || end != nil {
      throw RESTError(400, reason: "equalTo cannot be combined with other bounds")
    }
    return Query(
      index: index,
      start: equal ?? start,
      end: equal ?? end,
      limit: try reader.limit()
    )
  }

  private func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }

  private func index() throws(RESTError) -> Index? {
    guard let text = parameter("orderBy") else {
      guard Self.names.contains(where: { parameter($0) != nil }) else { return nil }
      if isShallow { return .key }
      throw RESTError(
        400,
        reason: "orderBy must be defined when other query parameters are defined"
      )
    }
    guard let name = (try? JSONParser.parse(text))?.string else {
      throw RESTError(400, reason: "orderBy must be a valid JSON encoded path")
    }
    switch name {
    case "$key": return .key
    case "$value": return .value
    case "$priority": return .priority
    default:
      let path = Path(wire: name)
      guard !path.isRoot, Validation.problem(withPath: path) == nil else {
        throw RESTError(400, reason: "orderBy must be a valid JSON encoded path")
      }
      return .child(path)
    }
  }

  private func bound(
    _ inclusive: String,
    or exclusive: String?,
    by index: Index
  ) throws(RESTError) -> QueryBound? {
    let other = exclusive.flatMap { parameter($0) }
    guard let text = parameter(inclusive) else {
      guard let exclusive, let other else { return nil }
      return try bound(exclusive, text: other, isInclusive: false, by: index)
    }
    if let exclusive, other != nil {
      throw RESTError(400, reason: "\(inclusive) and \(exclusive) cannot be combined")
    }
    return try bound(inclusive, text: text, isInclusive: true, by: index)
  }

  private func bound(
    _ name: String,
    text: String,
    isInclusive: Bool,
    by index: Index
  ) throws(RESTError) -> QueryBound {
    let parts = (try? JSONParser.parse("[\(text)]"))?.elements ?? []
    if index == .key {
      if parts.count == 1, let key = parts[0].string {
        return QueryBound(.string(key), isInclusive: isInclusive)
      }
      // Tools that list keys without an order send them unquoted.
      if parameter("orderBy") == nil {
        return QueryBound(.string(text), isInclusive: isInclusive)
      }
      throw RESTError(400, reason: "\(name) must be a JSON string when orderBy is \"$key\"")
    }
    guard parts.count == 1 || parts.count == 2, let value = parts.first, value.members == nil,
      value.elements == nil
    else {
      throw RESTError(
        400,
        reason: "\(name) must be a JSON primitive, with or without a key after a comma"
      )
    }
    var key: QueryBound.KeyPart?
    if parts.count == 2 {
      guard let name = parts[1].string, Validation.problem(withKey: name) == nil else {
        throw RESTError(400, reason: "the key of \(name) must be a JSON string that is a valid key")
      }
      key = .key(ChildKey(name))
    }
    return QueryBound(
      (try? Node(json: value))?.leafValue,
      key: key,
      isInclusive: isInclusive
    )
  }

  private func limit() throws(RESTError) -> Query.Limit? {
    let first = parameter("limitToFirst")
    let last = parameter("limitToLast")
    guard let text = first ?? last else { return nil }
    if first != nil, last != nil {
      throw RESTError(400, reason: "limitToFirst and limitToLast cannot be combined")
    }
    guard let count = Int(text), count > 0, count <= Int(Int32.max) else {
      let name = first == nil ? "limitToLast" : "limitToFirst"
      throw RESTError(400, reason: "\(name) must be a positive whole number")
    }
    return Query.Limit(count, side: first == nil ? .last : .first)
  }
}

extension Query {
  /// Parses a query in the form of REST parameters, such as `orderBy="date"&limitToLast=10`.
  ///
  /// - Throws: ``DatabaseServerError``, which names the parameter that is wrong.
  package init(restParameters text: String) throws(DatabaseServerError) {
    let parameters = HTTPRequest.parameters(of: text)
    let names = ["orderBy"] + QueryParameters.names
    if let other = parameters.first(where: { !names.contains($0.name) }) {
      throw DatabaseServerError(
        .invalidOptions,
        description:
          "a query takes only \(names.joined(separator: ", ")), not \"\(other.name)\""
      )
    }
    do throws(RESTError) {
      self = try QueryParameters.query(of: parameters, isShallow: false) ?? .all
    } catch {
      throw DatabaseServerError(.invalidOptions, description: error.reason)
    }
  }
}
