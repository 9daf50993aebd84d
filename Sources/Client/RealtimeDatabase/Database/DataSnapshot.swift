public import Foundation
package import RealtimeCore
package import RealtimeSync

/// The data at a location at one moment.
///
/// A snapshot is a value that never changes; it may be kept and handed to other threads.
public final class DataSnapshot: Sendable {
  /// The location.
  public let ref: DatabaseReference
  /// Where the data come from.
  public let metadata: SnapshotMetadata
  package let node: Node
  private let index: Index

  package init(
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

  /// Whether there are data.
  public func exists() -> Bool { !node.isEmpty }

  /// The data in the types that programs cast to; `NSNull` when there are none.
  ///
  /// Numbers and booleans are `NSNumber`, so that `as? Int`, `as? Double`, `as? Bool` and
  /// `as? NSNumber` work as in the original; strings are `String`, lists `[Any]`, objects
  /// `[String: Any]`, and both can be cast to what their parts can be cast to, such as
  /// `[String: AnyObject]`, `[String: Bool]`, `NSDictionary` and `NSArray`. As in the original,
  /// `as? Bool` also accepts the numbers 0 and 1, and `as? Int` booleans; a write of the value that
  /// was read tells them apart.
  ///
  /// - Complexity: O(size)
  public var value: Any? { NodeConversion.value(node) }

  /// The data with priorities, as they are exported.
  ///
  /// - Returns: The data in the types of ``value``; objects have a member `.priority` where there is
  ///   one, and leaves with a priority are objects with `.value` and `.priority`.
  /// - Complexity: O(size)
  public func valueInExportFormat() -> Any? { NodeConversion.value(node, form: .export) }

  /// The priority: a number or a string; `NSNull` when there is none.
  public var priority: Any? { NodeConversion.value(node.priority.map { .leaf($0) } ?? .empty) }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// Whether there are children.
  public func hasChildren() -> Bool { node.childCount > 0 }

  /// Whether there are data at a path below.
  ///
  /// It is a programmer error to pass a path that no database can have, or an empty one: it traps.
  public func hasChild(_ childPathString: String) -> Bool {
    let path = Path(wire: childPathString)
    if let problem = path.isRoot ? "it is empty" : Validation.problem(withPath: path) {
      preconditionFailure("\"\(childPathString)\" is not the path of a child: \(problem)")
    }
    return !node[path].isEmpty
  }

  /// The data at a path below.
  ///
  /// It is a programmer error to pass a path that no database can have: it traps.
  public func childSnapshot(forPath childPathString: String) -> DataSnapshot {
    let path = Path(wire: childPathString)
    return DataSnapshot(node[path], at: ref.child(of: path), metadata: metadata)
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

extension DataSnapshot: CustomStringConvertible {
  /// The key and the data as JSON.
  public var description: String { "\(key): \(json)" }
}

/// The kinds of changes that an observer can ask for.
public enum DataEventType: Int, Hashable, Sendable {
  /// A child has come, or was there when the observer began.
  case childAdded
  /// A child has gone.
  case childRemoved
  /// The data of a child have changed.
  case childChanged
  /// What a child is ordered by has changed.
  case childMoved
  /// The whole data at the location, at first and after each change.
  case value
}

/// Names an observer, to remove it by.
public typealias DatabaseHandle = UInt

/// Where the data of a snapshot come from.
///
/// Whether more is known is told with the next event; a change of the metadata alone raises none.
public struct SnapshotMetadata: Hashable, Sendable {
  /// Whether the server may have newer data.
  ///
  /// True while there is no connection, and after one was made until the server has sent the data or
  /// has confirmed that what is known here is what it has. False for data of `.info`.
  public let isFromCache: Bool

  /// Whether writes of this client that are not yet acknowledged have a part in the data.
  ///
  /// For a child event they are those at, above and below the child; for the value of a query those
  /// at or above its location, and those of children that it selects, or selected without them.
  public let hasPendingWrites: Bool

  package init(_ metadata: DataMetadata = DataMetadata()) {
    isFromCache = metadata.isFromCache
    hasPendingWrites = metadata.hasPendingWrites
  }
}

/// Enumerates children for code that expects Foundation's enumerator; what comes later is not seen.
final class ChildEnumerator<Child>: NSEnumerator {
  private var remaining: ArraySlice<Child>

  init(_ children: [Child]) {
    remaining = children[...]
  }

  override func nextObject() -> Any? { remaining.popFirst() }
}
