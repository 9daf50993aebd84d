/// Text that comes from the clipboard, from the mark at its start to the mark at its end.
struct PasteBuffer {
  /// The number of scalars that one paste can have; what follows is dropped.
  static let limit = 1 << 20

  /// What has come so far.
  private(set) var text = ""
  private var count = 0

  /// Adds one character.
  mutating func append(_ scalar: Unicode.Scalar) {
    guard count < Self.limit else { return }
    text.unicodeScalars.append(scalar)
    count += 1
  }
}
