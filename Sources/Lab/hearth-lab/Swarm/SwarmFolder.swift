import Foundation
import HearthProgram

/// The directory of one run of a swarm.
struct SwarmFolder {
  /// Where it is; short, since the paths of sockets must be.
  let path: String
  private let isTemporary: Bool

  /// Makes the directory.
  ///
  /// - Parameter path: Where, or nil for a temporary one.
  /// - Throws: ``CommandFailure`` when it cannot be made, or there is something already.
  init(_ path: String?) throws(CommandFailure) {
    isTemporary = path == nil
    let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    let temporary = "\(base)/hearth-swarm-\(getpid())"
    // Other programs are told where it is, and work in other directories.
    self.path = URL(fileURLWithPath: path ?? temporary).standardizedFileURL.path
    guard mkdir(self.path, 0o700) == 0 else {
      throw CommandFailure(
        .usage,
        "\(self.path) cannot be made: \(String(cString: strerror(errno)))"
      )
    }
  }

  /// Removes the directory, unless someone has named it, and tells whether it is gone.
  @discardableResult
  func remove() -> Bool {
    isTemporary && (try? FileManager.default.removeItem(atPath: path)) != nil
  }
}
