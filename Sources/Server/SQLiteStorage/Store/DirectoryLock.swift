import Foundation
import RealtimeHub

/// The exclusive use of a data directory, held until the value is released or the process ends.
final class DirectoryLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock, or reports who still has it when the patience has ended.
  init(directory: String, patience: Duration = .zero) throws(StoreError) {
    let path = directory + "/lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(path)") }
    guard Self.lock(descriptor, patience) else {
      let code = errno
      let holder = Self.holder(descriptor)
      close(descriptor)
      guard code == EWOULDBLOCK else { throw StoreError(systemCode: code, "cannot lock \(path)") }
      throw StoreError(
        .locked,
        "\(directory) is in use by \(holder); stop it, or choose another directory"
      )
    }
    let text = Array("\(getpid())\n".utf8)
    // The number is for people; the lock itself holds without it.
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
  }

  deinit {
    close(descriptor)
  }

  /// Lets others have the directory; the value is of no more use.
  func release() { _ = flock(descriptor, LOCK_UN) }

  /// Tries every millisecond: whoever waits for this gets it before a process that is only starting.
  private static func lock(_ descriptor: Int32, _ patience: Duration) -> Bool {
    let end = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK, ContinuousClock.now < end else { return false }
      poll(nil, 0, 1)
    }
    return true
  }

  private static func holder(_ descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? "another server" : "another server (process \(digits))"
  }
}
