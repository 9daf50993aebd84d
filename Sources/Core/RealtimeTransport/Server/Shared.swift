/// A value that all connections share, which would otherwise take up memory in each of them.
@dynamicMemberLookup
final class Shared<Value: Sendable>: Sendable {
  private let value: Value

  init(_ value: Value) {
    self.value = value
  }

  subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }
}
