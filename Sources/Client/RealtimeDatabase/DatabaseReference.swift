package import RealtimeCore

// Safety: adds no stored property to `DatabaseQuery`.
/// A location in a database: what can be written, and the start of every query.
public final class DatabaseReference: DatabaseQuery, @unchecked Sendable {
  /// What a write calls when the server has answered.
  public typealias Completion = ((any Error)?, DatabaseReference) -> Void

  package init(database: Database, path: Path) {
    super.init(database: database, path: path, query: .all)
  }

  /// The last part of the path, or nil for the root.
  public var key: String? { path.last?.text }

  /// The location above, or nil for the root.
  public var parent: DatabaseReference? {
    path.parent.map { DatabaseReference(database: database, path: $0) }
  }

  /// The root of the database.
  public var root: DatabaseReference { database.reference() }

  /// The URL of the location.
  public var url: String { repo.url(of: path) }

  /// The location at a path below, whose parts are separated by slashes.
  ///
  /// It is a programmer error to pass a path that no database can have (`.`, `#`, `$`, `[`, `]` and
  /// control characters are not allowed, nor more than 768 bytes): it traps.
  public func child(_ pathString: String) -> DatabaseReference {
    child(of: Path(wire: pathString))
  }

  /// A location below with a key that no one else has and that sorts by the time it was made.
  public func childByAutoId() -> DatabaseReference {
    child(of: ChildKey(repo.nextPushID()))
  }

  /// Cuts the connections of all databases that were found by name.
  public static func goOffline() {
    for database in Database.opened { database.goOffline() }
  }

  /// Connects all databases again that were found by name.
  public static func goOnline() {
    for database in Database.opened { database.goOnline() }
  }

  package func child(of key: ChildKey) -> DatabaseReference {
    DatabaseReference(database: database, path: path.appending(key))
  }

  func child(of relative: Path) -> DatabaseReference {
    let whole = path.appending(relative)
    // What the client says of itself is found below a key that no data can have.
    let named = whole.first == ".info" ? whole.rest : whole
    if let problem = Validation.problem(withPath: named) {
      preconditionFailure("\(whole) is not the path of a location: \(problem)")
    }
    return DatabaseReference(database: database, path: whole)
  }
}

extension DatabaseReference: CustomStringConvertible, DescribedByMethod {
  /// The URL of the location.
  public var description: String { url }
}

/// What the original describes by a method, which a property of this name keeps a class from having.
public protocol DescribedByMethod: CustomStringConvertible {}

extension DescribedByMethod {
  /// The same as the property of this name, as the original has it.
  public func description() -> String { description }
}
