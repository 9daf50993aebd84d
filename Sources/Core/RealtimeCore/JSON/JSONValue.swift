/// A JSON value as it was written, members in their order.
package enum JSONValue: Hashable, Sendable {
  /// The literal `null`.
  case null
  /// The literals `true` and `false`.
  case bool(Bool)
  /// A whole number within 64 bits.
  case integer(Int64)
  /// Any other number.
  case double(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Named members, in the order of the text; of two with one name the later counts.
  case object([JSONMember])
}

/// A named member of a JSON object.
package struct JSONMember: Hashable, Sendable {
  /// The name, unescaped.
  package var name: String
  /// The value.
  package var value: JSONValue

  /// Makes a member.
  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }
}

extension JSONValue {
  /// Makes an object of pairs.
  package static func object(_ pairs: (String, JSONValue)...) -> JSONValue {
    .object(pairs.map { JSONMember($0.0, $0.1) })
  }

  /// The member of an object with this name, or nil; compared by code units.
  ///
  /// - Complexity: O(members)
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { CodeUnits.areEqual($0.name, name) }?.value
  }

  /// The text of a string, or nil for another kind.
  package var string: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// A whole number, or nil for another kind.
  package var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .double(let value): Int64(exactly: value)
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// True or false, or nil for another kind.
  package var bool: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  /// The members of an object, or nil for another kind.
  package var members: [JSONMember]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The elements of an array, or nil for another kind.
  package var elements: [JSONValue]? {
    if case .array(let elements) = self { elements } else { nil }
  }

  /// The value as compact JSON text.
  ///
  /// - Complexity: O(size)
  package var text: String {
    var writer = JSONWriter()
    writer.write(self)
    return writer.text
  }

  /// The value as compact JSON text with the members of every object in the order of their names.
  ///
  /// - Complexity: O(size · log members)
  package var canonicalText: String {
    var writer = JSONWriter()
    writer.write(sorted)
    return writer.text
  }

  private var sorted: JSONValue {
    switch self {
    case .null, .bool, .integer, .double, .string: self
    case .array(let elements): .array(elements.map(\.sorted))
    case .object(let members):
      .object(
        members.map { JSONMember($0.name, $0.value.sorted) }
          .sorted { CodeUnits.precedes($0.name, $1.name) }
      )
    }
  }
}
