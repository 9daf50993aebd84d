/// A key of a JSON text that a database does not accept.
package enum InvalidKey {
  /// Finds the first such key.
  ///
  /// - Parameters:
  ///   - text: JSON, which may be broken elsewhere.
  ///   - isUpdate: Whether the outermost names are the paths of an update.
  /// - Returns: The place of its opening quotation mark; nil if all keys up to the first error in the
  ///   text are accepted.
  /// - Complexity: O(bytes)
  package static func first(in text: [UInt8], isUpdate: Bool) -> JSONTokenizer.Place? {
    var rest = text
    var json = JSONTokenizer {
      defer { rest = [] }
      return rest
    }
    var depth = 0
    while let token = try? json.next() {
      switch token {
      case .objectStart, .arrayStart: depth += 1
      case .objectEnd, .arrayEnd: depth -= 1
      case .scalar: break
      case .name(let name):
        let isAccepted =
          isUpdate && depth == 1 ? accepts(path: Path(wire: name)) : accepts(name, isMember: true)
        if !isAccepted { return json.place }
      }
    }
    return nil
  }

  private static func accepts(path: Path) -> Bool {
    guard let last = path.last else { return false }
    return (last.isPriority || accepts(last.text, isMember: false))
      && path.keys.dropLast().allSatisfy { accepts($0.text, isMember: false) }
  }

  private static func accepts(_ name: String, isMember: Bool) -> Bool {
    switch name {
    case ".priority", ".value", ".sv": isMember
    default: name.utf8.count > Limits.keyBytes || Validation.problem(withKey: name) == nil
    }
  }
}
