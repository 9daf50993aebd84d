public import Foundation
package import RealtimeCore

/// The data that a transaction changes.
///
/// It must be used only within the block of one transaction, on the thread that runs it.
public final class MutableData {
  private let root: MutableRoot
  private let path: Path

  package convenience init(_ node: Node) {
    self.init(root: MutableRoot(node), path: .root)
  }

  private init(root: MutableRoot, path: Path) {
    self.root = root
    self.path = path
  }

  package var node: Node { root.node[path] }

  /// The first problem with an assigned value, if any; it makes the transaction fail.
  package var problem: DatabaseError? { root.problem }

  /// The last key of the path below the transaction's location, or nil at the location itself.
  public var key: String? { path.last?.text }

  /// The data in the types of ``DataSnapshot/value``; `NSNull` when there is none.
  ///
  /// Assigning replaces the data and the priority; nil and `NSNull` remove both. Assigning a value
  /// that cannot be stored ends the transaction with `invalid_data`. So does replacing children with
  /// others after a value was read in which keys are equal as Swift strings, because a dictionary
  /// holds only one of them; use ``childData(byAppendingPath:)`` or ``children`` for such data.
  public var value: Any? {
    get {
      let json = node.json(.value)
      root.hasMerged = root.hasMerged || json.equalKeys != nil
      return NodeConversion.value(json)
    }
    set {
      do throws(DatabaseError) {
        let isPriority = path.isPriority
        let node =
          try isPriority ? NodeConversion.priority(newValue) : NodeConversion.node(newValue)
        let place = isPriority ? Path(path.keys.dropLast()) : path
        if let problem = Validation.problem(withPath: place) { throw .invalid(problem) }
        if root.hasMerged, node.childCount > 0, let keys = self.node.json(.value).equalKeys {
          let way = "use childData(byAppendingPath:) or children instead of value"
          throw .invalid("\(Validation.problem(withEqualKeys: keys)); \(way)")
        }
        root.node.update(at: path, to: node)
      } catch {
        root.problem = root.problem ?? error
      }
    }
  }

  /// The priority: a number or a string; `NSNull` when there is none.
  public var priority: Any? {
    get { NodeConversion.value(node.priority.map { .leaf($0) } ?? .empty) }
    set {
      do {
        let leaf = try NodeConversion.priority(newValue)
        root.node.update(at: path.appending(.priority), to: leaf)
      } catch {
        root.problem = root.problem ?? error
      }
    }
  }

  /// The number of children.
  public var childrenCount: UInt { UInt(node.childCount) }

  /// Whether there are children.
  public func hasChildren() -> Bool { node.childCount > 0 }

  /// Whether there is data at a relative path.
  public func hasChild(atPath path: String) -> Bool { !node[Path(wire: path)].isEmpty }

  /// The data at a relative path; assigning to it changes this data as well.
  public func childData(byAppendingPath path: String) -> MutableData {
    MutableData(root: root, path: self.path.appending(Path(wire: path)))
  }

  /// The children in priority order, as `MutableData`; children added later are not included.
  ///
  /// - Complexity: O(n)
  public var children: NSEnumerator { ChildEnumerator(childData) }

  /// The children in priority order.
  ///
  /// - Complexity: O(n)
  public var childData: [MutableData] {
    IndexedNode(node, by: .priority).ascending.map {
      MutableData(root: root, path: path.appending($0.key))
    }
  }
}

extension MutableData: CustomStringConvertible {
  /// The key and the data as JSON.
  public var description: String { "\(key ?? ""): \(node.json(.value).text)" }
}

/// The state shared by a ``MutableData`` and the children obtained from it.
private final class MutableRoot {
  var node: Node
  var problem: DatabaseError?
  /// Whether a value was read that lacks children, because their keys are equal as Swift strings.
  var hasMerged = false

  init(_ node: Node) {
    self.node = node
  }
}

/// The decision of a transaction's block.
public struct TransactionResult: Sendable {
  package enum Verdict: Sendable {
    case commit(Node, problem: DatabaseError?)
    case abort
  }

  package let verdict: Verdict

  /// Stores the data, unless it has changed on the server; in that case the block runs again.
  public static func success(withValue value: MutableData) -> TransactionResult {
    TransactionResult(verdict: .commit(value.node, problem: value.problem))
  }

  /// Ends the transaction without a change.
  public static func abort() -> TransactionResult {
    TransactionResult(verdict: .abort)
  }
}
