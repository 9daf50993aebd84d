/// A string of a rules document, unescaped, which knows where each of its characters stands.
struct DocumentText {
  /// The characters after unescaping.
  var scalars: [Unicode.Scalar] = []
  /// The offset of each character in the document.
  var offsets: [Int] = []
  /// The offset of the opening quote.
  let start: Int
  /// The offset of the closing quote.
  var end = 0

  init(start: Int) {
    self.start = start
  }

  var text: String {
    var text = ""
    text.unicodeScalars.append(contentsOf: scalars)
    return text
  }

  /// Where a character stands in the document; past the last one, where the string ends.
  func offset(of index: Int) -> Int {
    index < offsets.count ? offsets[index] : end
  }
}
