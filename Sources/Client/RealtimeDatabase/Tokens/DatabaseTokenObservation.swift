/// An interest in the tokens of a provider, which ends when nobody holds this any more.
public final class DatabaseTokenObservation: Sendable {
  private let end: @Sendable () -> Void

  /// Makes an observation.
  ///
  /// - Parameter end: What ends it.
  public init(_ end: @escaping @Sendable () -> Void) {
    self.end = end
  }

  deinit { end() }
}
