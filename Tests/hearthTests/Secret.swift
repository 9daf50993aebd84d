/// What must not be found in files, logs and lists of processes.
enum Secret {
  /// Whether there is a token of an account in a text.
  ///
  /// It is three parts of Base64, the first of which is an object in JSON; its beginning alone may be
  /// met in a random key.
  static func hasToken(_ text: String) -> Bool {
    text.firstMatch(of: /eyJ[\w-]{6,}\.[\w-]{6,}\.[\w-]*/) != nil
  }
}
