import DurableFiles
import Foundation

/// A directory that one running program has to itself, and that the next one finds again.
///
/// Several terminals of one person each keep what they have read and not yet sent in a slot of their
/// own. A slot is held by a lock, which the system gives up with the process however it ends.
final class OfflineSlot: Sendable {
  /// How many programs of one person can keep something.
  static let limit = 64

  /// Where this program keeps its database file.
  let directory: String
  /// The number of the slot.
  let number: Int
  private let descriptor: Int32

  private init(directory: String, number: Int, descriptor: Int32) {
    self.directory = directory
    self.number = number
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Takes the first free slot; nil when there is none, or no usable directory.
  static func claim(in directory: String) -> OfflineSlot? {
    try? PrivateDirectory.create(directory)
    for number in 0..<limit {
      if let slot = open(number, in: directory) { return slot }
    }
    return nil
  }

  /// Takes the slots of programs that have ended and that hold something.
  static func abandoned(in directory: String) -> [OfflineSlot] {
    (0..<limit).compactMap { number in
      let path = "\(directory)/\(number)"
      guard FileManager.default.fileExists(atPath: path) else { return nil }
      return open(number, in: directory)
    }
  }

  /// Removes what is in the slot, once nothing in it is needed.
  func clear() { try? FileManager.default.removeItem(atPath: directory) }

  private static func open(_ number: Int, in directory: String) -> OfflineSlot? {
    let flags = O_RDWR | O_CREAT | O_CLOEXEC
    let descriptor = Foundation.open("\(directory)/\(number).lock", flags, 0o600)
    guard descriptor >= 0 else { return nil }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    return OfflineSlot(
      directory: "\(directory)/\(number)",
      number: number,
      descriptor: descriptor
    )
  }
}
