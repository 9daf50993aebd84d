import Foundation
import TestSupport

/// Observes what happens to the entries of a directory, in order and without a race.
final class FileWatch {
  enum Event: Equatable {
    case made(String)
    case changed(String)
    case moved(String)
    case removed(String)
  }

  struct Unavailable: Error {
    let code: CInt
  }

  private let descriptor: CInt

  init(_ directory: String) throws {
    descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    let kinds = UInt32(IN_CREATE | IN_ATTRIB | IN_MOVED_TO | IN_DELETE)
    guard descriptor >= 0, inotify_add_watch(descriptor, directory, kinds) >= 0 else {
      throw Unavailable(code: errno)
    }
  }

  deinit { close(descriptor) }

  /// The events since the last call.
  func events() -> [Event] {
    var events: [Event] = []
    var buffer = [UInt8](repeating: 0, count: 64 * 1_024)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      guard count > 0 else { return events }
      var start = 0
      let header = MemoryLayout<inotify_event>.size
      while start + header <= count {
        let event = buffer[start...].withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
        let bytes = buffer[(start + header)...].prefix(Int(event.len)).prefix { $0 != 0 }
        let name = String(decoding: bytes, as: UTF8.self)
        start += header + Int(event.len)
        switch event.mask & ~UInt32(IN_ISDIR) {
        case UInt32(IN_CREATE): events.append(.made(name))
        case UInt32(IN_ATTRIB): events.append(.changed(name))
        case UInt32(IN_MOVED_TO): events.append(.moved(name))
        default: events.append(.removed(name))
        }
      }
    }
  }
}

extension TemporaryDirectory {
  /// The permissions of a file or directory in this directory.
  func mode(_ name: String) throws -> Int? {
    let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
    return (attributes[.posixPermissions] as? NSNumber)?.intValue
  }
}
