import BlogModel

/// A form on one page: fields, one below another.
package struct SignInForm: Sendable {
  package enum Kind: Hashable, Sendable {
    case signIn
    case signUp
    /// Requesting a code for a forgotten password.
    case forgotten
    /// Setting a new password with a code.
    case newPassword
    /// Choosing a user name in this blog for an existing account.
    case userName
  }

  /// The content of a field.
  package enum Item: Hashable, Sendable {
    /// The name that others see.
    case userName
    case email
    /// The code from a mail or from an administrator.
    case code
    case password
    /// The password once more, because it is not visible.
    case repetition
  }

  struct Field: Sendable {
    let item: Item
    var text: TextField
  }

  package let kind: Kind
  private(set) var fields: [Field]
  private(set) var focus = 0

  init(_ kind: Kind, known: [Item: String] = [:]) {
    self.kind = kind
    fields = Self.items(kind).map { Field(item: $0, text: TextField(text: known[$0] ?? "")) }
    focus = fields.firstIndex { $0.text.isEmpty } ?? 0
  }

  private static func items(_ kind: Kind) -> [Item] {
    switch kind {
    case .signIn: [.email, .password]
    case .signUp: [.userName, .email, .password, .repetition]
    case .forgotten: [.email]
    case .newPassword: [.code, .password, .repetition]
    case .userName: [.userName]
    }
  }

  /// The text of a field, without blanks around it unless it is secret; empty if the form has no such
  /// field.
  package func text(_ item: Item) -> String {
    let text = fields.first { $0.item == item }?.text.text ?? ""
    return item.isSecret ? text : text.trimmingBlanks
  }

  /// The first invalid field and the reason; nil if the form can be sent to the server.
  func problem() -> (field: Int, text: String)? {
    for (index, field) in fields.enumerated() {
      if let problem = problem(with: field) { return (index, problem) }
    }
    return nil
  }

  private func problem(with field: Field) -> String? {
    let text = text(field.item)
    switch field.item {
    case .userName:
      do throws(Author.NameError) {
        _ = try Author(userName: text)
        return nil
      } catch {
        return error.sentence
      }
    case .email: return text.contains("@") ? nil : "An email address needs an @"
    case .code: return text.isEmpty ? "The code is missing" : nil
    case .password:
      if text.isEmpty { return "The password is missing" }
      let isNew = kind != .signIn
      return isNew && text.count < 6 ? "A password needs at least 6 characters" : nil
    case .repetition: return text == self.text(.password) ? nil : "The two passwords differ"
    }
  }

  mutating func focus(on index: Int) {
    focus = min(max(0, index), fields.count - 1)
  }

  /// Whether the cursor is in the last field.
  var isAtEnd: Bool { focus == fields.count - 1 }

  /// Handles a key in the focused field; returns what to say if it does not take all of a text.
  mutating func type(_ key: KeyEvent) -> Message? {
    let before = fields[focus].text
    _ = fields[focus].text.handle(key)
    let after = fields[focus].text
    return .cut(key, from: before.count, to: after.count, limit: after.limit)
  }

  /// Moves the cursor of the focused field to a click; a masked field does not match its text.
  mutating func moveCursor(toColumn column: Int) {
    guard !fields[focus].item.isSecret else { return }
    fields[focus].text.moveCursor(toColumn: column)
  }

  /// Clears the secrets, which must not stay on an unattended screen.
  mutating func clearSecrets() {
    for index in fields.indices where fields[index].item.isSecret {
      fields[index].text = TextField()
    }
    resize(to: room)
    focus = fields.firstIndex { $0.text.isEmpty } ?? focus
  }

  private var room = Size(width: 80, height: 24)
  static let labelWidth = 18

  mutating func resize(to size: Size) {
    room = size
    let width = max(1, size.width - Self.labelWidth)
    for index in fields.indices {
      fields[index].text.resize(to: Size(width: width, height: 1))
    }
  }
}

extension SignInForm.Item {
  var isSecret: Bool {
    switch self {
    case .userName, .email, .code: false
    case .password, .repetition: true
    }
  }

  func label(_ kind: SignInForm.Kind) -> SafeText {
    switch self {
    case .userName: "User name"
    case .email: "Email"
    case .code: "Code"
    case .password: kind == .newPassword ? "New password" : "Password"
    case .repetition: "Once more"
    }
  }
}
