/// A reason not to be connected; the engine connects only while there is none.
package enum InterruptReason: Hashable, Sendable {
  /// Nothing has asked for data yet; the first use of the engine ends it.
  case waitingForOpen
  /// The caller went offline.
  case user
  /// The server refused the credential; presenting another, or giving it up, ends this.
  case tokenRefresh
  /// The server asked not to be connected to again.
  case serverKill
}
