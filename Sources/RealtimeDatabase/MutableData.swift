package import RealtimeTree

/// The data that a transaction works on.
///
/// Used only within the block of one transaction, on the thread that runs it.
public final class MutableData {
  private let root: MutableRoot
  private let path: Path

  package convenience init(_ node: Node) {
    self.init(MutableRoot(node), .root)
  }

  private init(_ root: MutableRoot, _ path: Path) {
    self.root = root
    self.path = path
  }

  package var node: Node { root.node[path] }

  /// The first problem with what was assigned, if any: such a transaction fails instead of storing it.
  package var problem: DatabaseError? { root.problem }

  /// The last part of the path below the transaction's location, or nil at the location itself.
  public var key: String? { path.last?.text }

  /// The data: `Bool`, `Int`, `Double`, `String`, `[Any]` or `[String: Any]`; nil when there are none.
  public var value: Any? {
    get { NodeConversion.value(node) }
    set {
      do {
        root.node.update(at: path, to: try NodeConversion.node(newValue))
      } catch {
        root.problem = root.problem ?? error
      }
    }
  }

  /// The priority: a number, a string or nil.
  public var priority: Any? {
    get { node.priority.flatMap { NodeConversion.value(.leaf($0)) } }
    set {
      do {
        let leaf = try NodeConversion.node(newValue)
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

  /// Whether there are data at a path below.
  public func hasChild(atPath path: String) -> Bool { !node[Path(wire: path)].isEmpty }

  /// The data at a path below; what is set there changes this as well.
  public func childData(byAppendingPath path: String) -> MutableData {
    MutableData(root, self.path.appending(Path(wire: path)))
  }

  /// The children in priority order.
  public var children: [MutableData] {
    IndexedNode(node, by: .priority).ascending.map { MutableData(root, path.appending($0.key)) }
  }
}

/// What the parts of one ``MutableData`` share.
private final class MutableRoot {
  var node: Node
  var problem: DatabaseError?

  init(_ node: Node) {
    self.node = node
  }
}

/// What the block of a transaction decides.
public struct TransactionResult: Sendable {
  package enum Verdict: Sendable {
    case commit(Node, problem: DatabaseError?)
    case abort
  }

  package let verdict: Verdict

  /// Stores the data, unless they have changed meanwhile: then the block runs again.
  public static func success(withValue value: MutableData) -> TransactionResult {
    TransactionResult(verdict: .commit(value.node, problem: value.problem))
  }

  /// Changes nothing.
  public static func abort() -> TransactionResult {
    TransactionResult(verdict: .abort)
  }
}
