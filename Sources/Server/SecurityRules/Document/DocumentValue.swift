internal import RealtimeCore

/// A value of a rules document, with the place where it starts.
struct DocumentValue {
  indirect enum Content {
    case bool(Bool)
    case string(DocumentText)
    case array([DocumentValue])
    case object([DocumentMember])
    case null
    case number
  }

  let offset: Int
  let content: Content

  /// What this is, for messages.
  var kind: String {
    switch content {
    case .bool: "a boolean"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    case .null: "null"
    case .number: "a number"
    }
  }

  /// The same in JSON; the numbers and nulls that it leaves out are in no document of rules.
  var json: JSONValue {
    switch content {
    case .bool(let value): .bool(value)
    case .string(let text): .string(text.text)
    case .array(let elements): .array(elements.map(\.json))
    case .object(let members): .object(members.map { JSONMember($0.name.text, $0.value.json) })
    case .null, .number: .null
    }
  }
}
