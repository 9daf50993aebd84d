/// What files, logs and process lists must not contain.
enum Secret {
  /// Whether a text contains an account's token.
  ///
  /// A token is three parts of Base64, the first of which is a JSON object; its beginning alone may
  /// occur in a random key.
  static func hasToken(_ text: String) -> Bool {
    text.firstMatch(of: /eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/) != nil
  }
}
