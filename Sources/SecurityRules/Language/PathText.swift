internal import RealtimeTree

/// A path of any text, cut into its keys.
struct PathText: Sendable {
  let keys: [ChildKey]
  /// The length of the text.
  let bytes: Int

  init(_ text: String) {
    bytes = text.utf8.count
    // Most paths are one key, and that needs no cutting.
    let isOne = !text.isEmpty && !text.utf8.contains(UInt8(ascii: "/"))
    keys = isOne ? [ChildKey(text)] : Path(wire: text).keys
  }
}
