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
}
