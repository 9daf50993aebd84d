internal import RealtimeCore

/// The named values of a request, each of the type that it must have.
///
/// A value of another type is refused rather than taken as missing: who sends a number as a password
/// is told so.
struct RequestFields {
  private let values: JSONValue

  /// Longest text of a field that is not bounded otherwise, in bytes.
  private static let maximumBytes = 8 * 1_024

  init(_ values: JSONValue) { self.values = values }

  private subscript(name: String) -> JSONValue? {
    guard let value = values[name], value != .null else { return nil }
    return value
  }

  private static func invalid(_ name: String, _ type: String) -> IdentityError {
    IdentityError("INVALID_ARGUMENT", "Invalid value at '\(name)' (\(type))")
  }

  /// A text, or nil when it is missing or empty.
  func text(_ name: String) throws(IdentityError) -> String? {
    let text = try possiblyEmptyText(name)
    return text?.isEmpty == true ? nil : text
  }

  /// A text under one of two names, or nil when it is missing or empty.
  func text(either name: String, or other: String) throws(IdentityError) -> String? {
    if let text = try text(name) { return text }
    return try text(other)
  }

  /// A text that may also be empty, or nil when it is missing.
  func possiblyEmptyText(_ name: String) throws(IdentityError) -> String? {
    guard let value = self[name] else { return nil }
    guard let text = value.string, text.utf8.count <= Self.maximumBytes, !text.utf8.contains(0)
    else {
      throw Self.invalid(name, "TYPE_STRING")
    }
    return text
  }

  /// True or false, or nil when it is missing.
  func flag(_ name: String) throws(IdentityError) -> Bool? {
    guard let value = self[name] else { return nil }
    guard let flag = value.bool else { throw Self.invalid(name, "TYPE_BOOL") }
    return flag
  }

  /// Several texts, or one in their place; empty when they are missing.
  func texts(_ name: String) throws(IdentityError) -> [String] {
    guard let value = self[name] else { return [] }
    if let text = value.string { return [text] }
    guard let elements = value.elements, elements.count <= 1_000 else {
      throw Self.invalid(name, "TYPE_ARRAY")
    }
    let texts = elements.compactMap(\.string)
    guard texts.count == elements.count else { throw Self.invalid(name, "TYPE_STRING") }
    return texts
  }

  /// JSON that comes as text, or nil when it is missing.
  func embeddedJSON(_ name: String) throws(IdentityError) -> JSONValue? {
    guard let text = try text(name) else { return nil }
    guard let json = try? JSONParser.parse(text) else { throw IdentityError("INVALID_CLAIMS") }
    return json
  }

  /// An address in its one form, or nil when it is missing.
  func email(_ name: String = "email") throws(IdentityError) -> EmailAddress? {
    guard let text = try text(name) else { return nil }
    guard let email = EmailAddress(text) else { throw IdentityError("INVALID_EMAIL") }
    return email
  }

  /// A text that is to be somebody's password, or nil when it is missing.
  func newPassword(_ name: String = "password") throws(IdentityError) -> Password? {
    guard let text = try text(name) else { return nil }
    do throws(Password.Weakness) {
      return try Password(new: text)
    } catch {
      switch error {
      case .short: throw .weakPassword
      case .long: throw .longPassword
      }
    }
  }

  /// A name or an address to show, which may be empty, or nil when it is missing.
  func shown(_ name: String, maximumBytes: Int) throws(IdentityError) -> String? {
    guard let text = try possiblyEmptyText(name) else { return nil }
    guard text.utf8.count <= maximumBytes else { throw Self.invalid(name, "too long") }
    return text
  }
}
