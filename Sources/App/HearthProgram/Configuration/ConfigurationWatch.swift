import Dispatch
import Foundation

/// Tells when a configuration file may have changed; costs nothing while it does not.
final class ConfigurationWatch {
  private static let changes = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE
  )

  private let descriptor: Int32
  private let source: any DispatchSourceRead

  /// Begins to watch, or fails when the system has no more room for watches.
  ///
  /// Editors replace files by others of the same name, so directories are watched, not files; those
  /// that are missing are found once their parent has them.
  ///
  /// - Parameters:
  ///   - directories: The directories; the two above each are watched too.
  ///   - block: Called on a thread of its own, some milliseconds after the last of several changes.
  init?(_ directories: [String], block: @escaping @Sendable () -> Void) {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    let descriptor = descriptor
    let queue = DispatchQueue(label: "hearth.configuration")
    let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    let parents = directories.map { ($0 as NSString).deletingLastPathComponent }
    let above = parents.map { ($0 as NSString).deletingLastPathComponent }
    let watched = Array(Set(directories + parents + above))
    for path in watched { inotify_add_watch(descriptor, path, Self.changes) }
    source.setEventHandler {
      var buffer = [UInt8](repeating: 0, count: 4_096)
      usleep(20_000)
      while Foundation.read(descriptor, &buffer, buffer.count) > 0 {}
      // A directory that has come meanwhile is watched from now on; the others already are.
      for path in watched { inotify_add_watch(descriptor, path, Self.changes) }
      block()
    }
    source.setCancelHandler { Foundation.close(descriptor) }
    source.resume()
    self.source = source
  }

  deinit {
    source.cancel()
  }
}
