internal import RealtimeTree

/// A path of any text, cut into its keys.
struct PathText: Sendable {
  let keys: [ChildKey]
  /// The length of the text.
  let bytes: Int

  init(_ text: LeafText) {
    bytes = text.byteCount
    keys = Path(wire: text).keys
  }
}
