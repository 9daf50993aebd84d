package import RealtimeCore

// Safety: every stored property is an immutable `Sendable` value, also in subclasses.
/// A location with an order, a range and a limit: what can be observed and read.
///
/// Queries are values in all but name: each method that narrows one gives a new query and leaves the
/// old one as it was. Combining what cannot be combined (two orders, two limits, a range by key with a
/// number) is a programmer error; it traps, as it throws in the original.
public class DatabaseQuery: @unchecked Sendable {
  /// The database.
  public let database: Database
  package let path: Path
  package let query: Query
  /// Whether an order was asked for, be it the one that is the default.
  let isOrdered: Bool

  package init(database: Database, path: Path, query: Query, isOrdered: Bool = false) {
    self.database = database
    self.path = path
    self.query = query
    self.isOrdered = isOrdered
  }

  var repo: Repo { database.repo }

  /// The location without order, range and limit.
  public var ref: DatabaseReference { DatabaseReference(database: database, path: path) }
}

extension DatabaseQuery: Hashable {
  /// Whether both are the same query of the same location of the same database.
  public static func == (left: DatabaseQuery, right: DatabaseQuery) -> Bool {
    left.database === right.database && left.path == right.path && left.query == right.query
  }

  /// Feeds the location and the query into a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(database))
    hasher.combine(path)
    hasher.combine(query)
  }
}
