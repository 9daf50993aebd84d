/// The words of a variable such as `EDITOR`, split as a shell would, without anything else of one.
enum CommandWords {
  /// Splits at blanks outside of quotes; a backslash takes the next character as it is.
  ///
  /// - Parameter text: The text.
  /// - Returns: The words; nil if a quote is not closed or there is no word at all.
  static func split(_ text: String) -> [String]? {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = text[...]
    while let character = rest.popFirst() {
      switch (quote, character) {
      case ("'"?, "'"), ("\""?, "\""):
        quote = nil
      case ("'"?, _):
        word = (word ?? "") + String(character)
      case (_, "\\"):
        word = (word ?? "") + (rest.popFirst().map { String($0) } ?? "\\")
      case (nil, "'"), (nil, "\""):
        quote = character
        word = word ?? ""
      case (nil, _) where character.isWhitespace:
        if let done = word { words.append(done) }
        word = nil
      default:
        word = (word ?? "") + String(character)
      }
    }
    if let done = word { words.append(done) }
    return quote == nil && !words.isEmpty ? words : nil
  }
}
