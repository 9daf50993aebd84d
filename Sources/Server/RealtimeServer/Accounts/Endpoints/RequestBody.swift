internal import RealtimeCore

/// Reads what a request says in its body.
enum RequestBody {
  /// Deepest nesting of a body; none of its fields has any.
  private static let depth = 8

  /// The fields of a body.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - allowsForm: Whether it may be a form.
  /// - Returns: The fields.
  /// - Throws: ``IdentityError`` when it is of another type than it must be, malformed, or when it
  ///   has a name twice, which two readers could read in two ways.
  static func fields(
    of request: IdentityRequest,
    allowsForm: Bool
  ) throws(IdentityError) -> RequestFields {
    let type = request.contentType.map { text in
      String(text.prefix { $0 != ";" }).filter { $0 != " " && $0 != "\t" }.lowercased()
    }
    let json: JSONValue
    switch type {
    case nil, "application/json": json = try object(request.body)
    case "application/x-www-form-urlencoded" where allowsForm: json = try form(request.body)
    case _?:
      throw IdentityError("INVALID_ARGUMENT", "The Content-Type must be application/json.")
    }
    guard !json.hasRepeatedNames else {
      throw IdentityError("INVALID_ARGUMENT", "A name comes twice.")
    }
    return RequestFields(json)
  }

  private static func object(_ body: [UInt8]) throws(IdentityError) -> JSONValue {
    // A request without a body has no fields, as for an anonymous account.
    if body.isEmpty { return .object([]) }
    guard let json = try? JSONParser.parse(body, depthLimit: depth), json.members != nil else {
      throw IdentityError("INVALID_ARGUMENT", "Invalid JSON payload received.")
    }
    return json
  }

  private static func form(_ body: [UInt8]) throws(IdentityError) -> JSONValue {
    guard let text = String(validating: body, as: UTF8.self) else {
      throw IdentityError("INVALID_ARGUMENT", "The form is no text.")
    }
    var members: [JSONMember] = []
    for pair in text.split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let texts = sides.compactMap(unescaped)
      guard texts.count == sides.count, let name = texts.first else {
        throw IdentityError("INVALID_ARGUMENT", "The form is malformed.")
      }
      members.append(JSONMember(name, .string(texts.count > 1 ? texts[1] : "")))
    }
    return .object(members)
  }

  /// The text that is written in a form with escapes, or nil when one is malformed.
  private static func unescaped(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2 else { return nil }
        rest = rest.dropFirst(2)
        bytes.append(UInt8(digits[0] << 4 | digits[1]))
      default: bytes.append(byte)
      }
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
