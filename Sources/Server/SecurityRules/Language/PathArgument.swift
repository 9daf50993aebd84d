/// What names a location below another one in a call of a method.
enum PathArgument: Sendable {
  /// A path that the document spells out.
  case constant(String)
  /// A path that depends on the request.
  case computed(Expression)

  init(_ expression: Expression) {
    if case .literal(.text(let text)) = expression {
      self = .constant(text)
    } else {
      self = .computed(expression)
    }
  }

  /// Whether the path can change while who asks for what stays the same.
  var dependsOnDataOrTime: Bool {
    switch self {
    case .constant: false
    case .computed(let expression): expression.dependsOnDataOrTime
    }
  }
}
