/// The version of the data at a location: their hash, or a word for no data.
enum EntityTag {
  /// The tag of no data.
  static let null = "null_etag"

  /// The tag of data with a hash.
  static func text(ofHash hash: String) -> String { hash.isEmpty ? null : hash }

  /// The hash that a tag stands for, with or without quotes and the mark of a weak one.
  static func hash(ofText text: String) -> String {
    var text = Substring(text)
    if text.hasPrefix("W/") { text = text.dropFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
      text = text.dropFirst().dropLast()
    }
    return text == null ? "" : String(text)
  }
}
