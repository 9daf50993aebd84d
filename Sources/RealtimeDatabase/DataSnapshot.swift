public import Foundation
package import RealtimeTree

/// The data at a location at one moment.
///
/// A snapshot is a value that never changes; it may be kept and handed to other threads.
public final class DataSnapshot: Sendable {
  /// The location.
  public let ref: DatabaseReference
  package let node: Node
  private let index: Index

  package init(_ node: Node, at ref: DatabaseReference, by index: Index = .priority) {
    self.node = node
    self.ref = ref
    self.index = index
  }

  /// The last part of the location's path; empty for the root.
  public var key: String { ref.key ?? "" }

  /// Whether there are data.
  public func exists() -> Bool { !node.isEmpty }

  /// The data: `Bool`, `Int`, `Double`, `String`, `[Any]` or `[String: Any]`; nil when there are none.
  ///
  /// - Complexity: O(size)
  public var value: Any? { NodeConversion.value(node) }

  /// The data with priorities, as they are exported.
  ///
  /// - Complexity: O(size)
  public var valueInExportFormat: Any? { NodeConversion.value(node, .export) }

  /// The priority: a number, a string or nil.
  public var priority: Any? { node.priority.flatMap { NodeConversion.value(.leaf($0)) } }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// Whether there are children.
  public func hasChildren() -> Bool { node.childCount > 0 }

  /// Whether there are data at a path below.
  public func hasChild(_ path: String) -> Bool { !node[Path(wire: path)].isEmpty }

  /// The data at a path below.
  public func childSnapshot(forPath path: String) -> DataSnapshot {
    DataSnapshot(node[Path(wire: path)], at: ref.child(path))
  }

  /// The children in the order of the query.
  ///
  /// - Complexity: O(n), O(n log n) unless ordered by key or priority
  public var childSnapshots: [DataSnapshot] {
    IndexedNode(node, by: index).ascending.map {
      DataSnapshot($0.node, at: ref.child(of: $0.key))
    }
  }

  /// The children in the order of the query, as `DataSnapshot`s.
  ///
  /// - Complexity: O(n), O(n log n) unless ordered by key or priority
  public var children: NSEnumerator { SnapshotEnumerator(childSnapshots) }

  /// The data as compact JSON text.
  ///
  /// - Complexity: O(size)
  public var json: String { node.json(.value).text }
}

/// Enumerates snapshots for code that expects Foundation's enumerator.
private final class SnapshotEnumerator: NSEnumerator {
  private var remaining: ArraySlice<DataSnapshot>

  init(_ snapshots: [DataSnapshot]) {
    remaining = snapshots[...]
  }

  override func nextObject() -> Any? { remaining.popFirst() }
}
