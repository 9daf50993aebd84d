internal import RealtimeCore

/// Orders, ranges and limits.
///
/// Values come in the order null, false, true, numbers, strings, objects; children of equal value in
/// the order of their keys, integers first. It is a programmer error, and traps, to give two orders,
/// two limits or two bounds of one side, a bound that is no leaf value, with ``queryOrderedByKey()``
/// a bound that is no string, or with ``queryOrderedByPriority()`` and without any order a boolean.
extension DatabaseQuery {
  /// Orders the children by the value at a path below each.
  public func queryOrdered(byChild path: String) -> DatabaseQuery {
    let child = Path(wire: path)
    precondition(!child.isRoot, "the path to order by must not be empty")
    if let problem = Validation.problem(withPath: child) {
      preconditionFailure("it is not possible to order by \"\(path)\": \(problem)")
    }
    return ordered(by: .child(child))
  }

  /// Orders the children by their keys.
  public func queryOrderedByKey() -> DatabaseQuery { ordered(by: .key) }

  /// Orders the children by their values.
  public func queryOrderedByValue() -> DatabaseQuery { ordered(by: .value) }

  /// Orders the children by their priorities, as is the default.
  public func queryOrderedByPriority() -> DatabaseQuery { ordered(by: .priority) }

  /// Keeps the first children only.
  public func queryLimited(toFirst limit: UInt) -> DatabaseQuery { limited(to: limit, .first) }

  /// Keeps the last children only.
  public func queryLimited(toLast limit: UInt) -> DatabaseQuery { limited(to: limit, .last) }

  /// Keeps the children from a value on, and among those of that value from a key on.
  public func queryStarting(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key))
  }

  /// Keeps the children after a value, or after a key among those of that value.
  public func queryStarting(afterValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key, isInclusive: false))
  }

  /// Keeps the children up to a value, and among those of that value up to a key.
  public func queryEnding(atValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    ending(bound(value, key))
  }

  /// Keeps the children before a value, or before a key among those of that value.
  public func queryEnding(beforeValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    ending(bound(value, key, isInclusive: false))
  }

  /// Keeps the children of one value, or the one of them with a key.
  public func queryEqual(toValue value: Any?, childKey key: String? = nil) -> DatabaseQuery {
    starting(bound(value, key)).ending(bound(value, key))
  }

  private func ordered(by index: Index) -> DatabaseQuery {
    precondition(!isOrdered, "a query can be ordered only once")
    return narrowed(isOrdered: true) { $0.index = index }
  }

  private func limited(to count: UInt, _ side: Query.LimitSide) -> DatabaseQuery {
    precondition(query.limit == nil, "a query can be limited only once")
    precondition(count > 0 && count <= UInt(Int32.max), "a limit must be at least 1")
    return narrowed { $0.limit = Query.Limit(Int(count), side) }
  }

  private func starting(_ bound: QueryBound) -> DatabaseQuery {
    precondition(query.start == nil, "a query can have only one start")
    return narrowed { $0.start = bound }
  }

  private func ending(_ bound: QueryBound) -> DatabaseQuery {
    precondition(query.end == nil, "a query can have only one end")
    return narrowed { $0.end = bound }
  }

  private func bound(_ value: Any?, _ key: String?, isInclusive: Bool = true) -> QueryBound {
    let expectation = "a bound must be null, a boolean, a number or a string"
    let json: JSONValue
    let node: Node
    do throws(DatabaseError) {
      json = try NodeConversion.json(value)
      node = try DatabaseReference.node(json)
    } catch {
      preconditionFailure("\(expectation): \(error.reason)")
    }
    precondition(json.members == nil && json.elements == nil, expectation)
    if let key, let problem = Validation.problem(withKey: key) {
      preconditionFailure("\"\(key)\" is no key of a child: \(problem)")
    }
    return QueryBound(
      node.leafValue,
      key: key.map { .key(ChildKey($0)) },
      isInclusive: isInclusive
    )
  }

  private func narrowed(
    isOrdered: Bool? = nil,
    _ change: (inout Query) -> Void
  ) -> DatabaseQuery {
    var narrowed = query
    change(&narrowed)
    Self.check(narrowed)
    return DatabaseQuery(
      database: database,
      path: path,
      query: narrowed,
      isOrdered: isOrdered ?? self.isOrdered
    )
  }

  private static func check(_ query: Query) {
    for bound in [query.start, query.end].compactMap(\.self) {
      switch (query.index, bound.value) {
      case (.priority, .bool):
        preconditionFailure("a bound of a query that is ordered by priority cannot be a boolean")
      case (.key, .string):
        precondition(bound.key == nil, "a range by key has no child key besides its value")
      case (.key, _):
        preconditionFailure("a bound of a query that is ordered by key must be a string")
      case (_, _): continue
      }
    }
  }
}
