public import Foundation
package import RealtimeCore

/// The data at a location at one moment.
///
/// A snapshot never changes; it can be kept and passed between threads.
public final class DataSnapshot: Sendable {
  /// The location that was read.
  public let ref: DatabaseReference
  /// Where the data comes from.
  public let metadata: SnapshotMetadata
  package let node: Node
  private let index: Index

  init(
    _ node: Node,
    at ref: DatabaseReference,
    by index: Index = .priority,
    metadata: SnapshotMetadata = SnapshotMetadata()
  ) {
    self.metadata = metadata
    self.node = node
    self.ref = ref
    self.index = index
  }

  /// The last part of the location's path; empty for the root.
  public var key: String { ref.key ?? "" }

  /// Whether there is any data.
  public func exists() -> Bool { !node.isEmpty }

  /// The data in the types that programs cast to; `NSNull` when there is none.
  ///
  /// Numbers and booleans are `NSNumber`, so that `as? Int`, `as? Double`, `as? Bool` and `as?
  /// NSNumber` work as in the original. Strings are `String`, lists `[Any]` and objects `[String:
  /// Any]`; lists and objects can be cast as far as their elements can, to `[String: AnyObject]`,
  /// `[String: Bool]`, `NSDictionary` or `NSArray` for example. As in the original, `as? Bool` also
  /// accepts the numbers 0 and 1, and `as? Int` accepts booleans; writing a value that was read
  /// keeps the distinction. Of children whose keys are equal as Swift strings, dictionaries have only
  /// the last; ``childSnapshots`` has all.
  ///
  /// - Complexity: O(size)
  public var value: Any? { NodeConversion.value(node) }

  /// The data including priorities, in export form.
  ///
  /// - Returns: The data in the types of ``value``. Objects with a priority have a member
  ///   `.priority`; leaves with a priority become objects with `.value` and `.priority`.
  /// - Complexity: O(size)
  public func valueInExportFormat() -> Any? { NodeConversion.value(node, form: .export) }

  /// The priority: a number or a string; `NSNull` when there is none.
  public var priority: Any? { NodeConversion.value(node.priority.map { .leaf($0) } ?? .empty) }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// Whether there are children.
  public func hasChildren() -> Bool { node.childCount > 0 }

  /// Whether there is data at a relative path; `/` is this location.
  ///
  /// Passing an empty path, or one that no database can have, is a programmer error and traps.
  public func hasChild(_ childPathString: String) -> Bool {
    let path = Path(wire: childPathString)
    if let problem = childPathString.isEmpty ? "it is empty" : Validation.problem(withPath: path) {
      CallerContract.fail(
        """
        "\(childPathString)" is not a child path: \(problem); for text from outside, use \
        childSnapshot(validating:)
        """
      )
    }
    return !node[path].isEmpty
  }

  /// The data at a relative path.
  ///
  /// Passing an empty path, or one that no database can have, is a programmer error and traps.
  public func childSnapshot(forPath childPathString: String) -> DataSnapshot {
    let child = ref.child(childPathString)
    return DataSnapshot(node[Path(wire: childPathString)], at: child, metadata: metadata)
  }

  /// The data at a relative path that text from outside the program is part of.
  ///
  /// - Parameter path: The path; slashes separate its keys, none of which may be empty.
  /// - Returns: The data.
  /// - Throws: ``DatabaseError`` of kind `invalid_data` that says what is wrong with the path.
  public func childSnapshot(validating path: String) throws(DatabaseError) -> DataSnapshot {
    let child = try ref.child(validating: path)
    return DataSnapshot(node[Path(wire: path)], at: child, metadata: metadata)
  }

  /// The children in the order of the query.
  ///
  /// - Complexity: O(n), O(n log n) unless ordered by key or priority
  public var childSnapshots: [DataSnapshot] {
    IndexedNode(node, by: index).ascending.map {
      DataSnapshot($0.node, at: ref.child(of: $0.key), metadata: metadata)
    }
  }

  /// The children in the order of the query, as `DataSnapshot`s.
  ///
  /// - Complexity: O(n), O(n log n) unless ordered by key or priority
  public var children: NSEnumerator { ChildEnumerator(childSnapshots) }

  /// The data as compact JSON text.
  ///
  /// - Complexity: O(size)
  public var json: String { node.json(.value).text }
}

extension DataSnapshot: Hashable {
  /// Whether both have the same data, with the same priorities, of the same location.
  public static func == (left: DataSnapshot, right: DataSnapshot) -> Bool {
    left === right || (left.ref == right.ref && left.node == right.node)
  }

  /// Feeds the location into a hasher.
  public func hash(into hasher: inout Hasher) { hasher.combine(ref) }
}

extension DataSnapshot: CustomStringConvertible {
  /// The key and the data as JSON.
  public var description: String { "\(key): \(json)" }
}

/// Identifies an observer, for removing it.
public typealias DatabaseHandle = UInt

/// Where the data of a snapshot comes from.
///
/// A change of the metadata alone raises no event; the next event carries the new metadata.
public struct SnapshotMetadata: Hashable, Sendable {
  /// Whether the server may have newer data.
  ///
  /// True while there is no connection. After reconnecting, it stays true until the server has sent
  /// the data or confirmed that the local copy is current. False for the data of `.info`.
  public let isFromCache: Bool

  /// Whether the data includes writes of this client that are not yet acknowledged.
  ///
  /// For a child event, writes at, above and below the child count. For the value of a query,
  /// writes at or above its location count, as well as writes to children that the query selects or
  /// would select without those writes.
  public let hasPendingWrites: Bool

  init(_ metadata: DataMetadata = DataMetadata()) {
    isFromCache = metadata.isFromCache
    hasPendingWrites = metadata.hasPendingWrites
  }
}

/// An enumerator of a fixed list of children, for code that expects Foundation's `NSEnumerator`.
final class ChildEnumerator<Child>: NSEnumerator {
  private var remaining: ArraySlice<Child>

  init(_ children: [Child]) {
    remaining = children[...]
  }

  override func nextObject() -> Any? { remaining.popFirst() }
}
