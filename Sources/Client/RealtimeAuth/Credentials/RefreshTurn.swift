internal import Foundation

/// The right of this process to refresh the tokens of an account, until it is dropped.
final class RefreshTurn: Sendable {
  private let descriptor: Int32

  /// A turn that no other process takes part in.
  static let unshared = RefreshTurn(descriptor: -1)

  /// Makes a turn of a file that this process has locked.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
