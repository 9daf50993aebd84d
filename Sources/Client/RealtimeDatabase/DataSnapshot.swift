public import Foundation
package import RealtimeCore

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
  public func valueInExportFormat() -> Any? { NodeConversion.value(node, .export) }

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
