internal import Foundation

/// How far a file has come, in a small file beside it, so that a file shows that has lost its end.
///
/// Whoever has waited for the disk moves the mark then. That is one write without a wait of its own:
/// the mark is never ahead of the file, it outlives the process at once, and a loss of power after
/// some seconds, or once ``synchronize()`` has returned. Two places take turns, each with a
/// checksum, so that there is always one that is whole.
///
/// It holds no lock: whoever has the file beside it has the mark as well, and moves it from one thread
/// at a time.
package final class HighWaterMark {
  /// A position in the history of a file.
  package struct Position: Sendable, Hashable {
    /// The number of the last commit.
    package var commit: Int64
    /// How many other changes there have been.
    package var others: Int64
    /// The checksum of the last commit, or 0 where it has none.
    package var seal: UInt64

    /// Makes a position; without arguments the one before everything.
    package init(commit: Int64 = 0, others: Int64 = 0, seal: UInt64 = 0) {
      self.commit = commit
      self.others = others
      self.seal = seal
    }
  }

  /// What is in the file of a mark.
  package enum Reading: Sendable, Hashable {
    /// Nothing, as before the first position.
    case nothing
    /// The last position that is whole.
    case position(Position)
    /// Bytes that no mark has.
    case damaged
  }

  /// The bytes of a place; the two are in different sectors of a disk.
  private static let stride = 4_096
  private static let recordBytes = 48
  /// "HrthMark", read as a number.
  private static let magic: UInt64 = 0x6b72_614d_6874_7248

  private let path: String
  private let descriptor: CInt
  /// How often the mark has been moved, which decides where it is written next.
  private var turn: UInt64

  /// Opens the file of a mark, which is made durably when it is missing.
  ///
  /// - Parameter path: The path of the file.
  /// - Throws: ``FileFailure`` when it cannot be used.
  package init(path: String) throws(FileFailure) {
    try PrivateFile.create(path, followsLink: false)
    self.path = path
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    turn = 0
    guard descriptor >= 0 else { throw FileFailure(errno, "cannot open \(path)") }
    turn = try Self.read(descriptor, path).turn
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads a mark, also while somebody moves it.
  ///
  /// - Parameter path: The path of the file, which may be missing.
  /// - Returns: What is in it.
  /// - Throws: ``FileFailure`` when it cannot be read.
  package static func read(_ path: String) throws(FileFailure) -> Reading {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return .nothing }
      throw FileFailure(errno, "cannot open \(path)")
    }
    defer { close(descriptor) }
    return try read(descriptor, path).reading
  }

  /// Moves the mark.
  ///
  /// - Parameter position: What the disk has of the file beside it.
  /// - Throws: ``FileFailure``; then the mark is where it was, which is safe.
  package func move(to position: Position) throws(FileFailure) {
    turn &+= 1
    let numbers = [
      Self.magic, turn, UInt64(bitPattern: position.commit), UInt64(bitPattern: position.others),
      position.seal,
    ]
    let record = (numbers + [Self.sum(numbers)]).map(\.littleEndian)
    let count = record.withUnsafeBytes {
      pwrite(descriptor, $0.baseAddress, $0.count, Int(turn & 1) * Self.stride)
    }
    guard count == Self.recordBytes else {
      throw FileFailure(count < 0 ? errno : EIO, "cannot write \(path)")
    }
  }

  /// Waits until the disk has the mark; this may be called while another thread moves it.
  ///
  /// - Throws: ``FileFailure`` when the disk does not keep it.
  package func synchronize() throws(FileFailure) {
    guard fdatasync(descriptor) == 0 else { throw FileFailure(errno, "cannot write \(path)") }
  }

  // MARK: Records

  private static func read(
    _ descriptor: CInt,
    _ path: String
  ) throws(FileFailure) -> (reading: Reading, turn: UInt64) {
    var best: (position: Position, turn: UInt64)?
    var isBlank = true
    for place in 0...1 {
      var numbers = [UInt64](repeating: 0, count: recordBytes / 8)
      let count = numbers.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, place * stride)
      }
      guard count >= 0 else { throw FileFailure(errno, "cannot read \(path)") }
      numbers = numbers.map { UInt64(littleEndian: $0) }
      if numbers.contains(where: { $0 != 0 }) { isBlank = false }
      guard numbers[0] == magic, numbers[5] == sum(numbers[..<5]) else { continue }
      if let best, best.turn > numbers[1] { continue }
      let position = Position(
        commit: Int64(bitPattern: numbers[2]),
        others: Int64(bitPattern: numbers[3]),
        seal: numbers[4]
      )
      best = (position, numbers[1])
    }
    if let best { return (.position(best.position), best.turn) }
    return (isBlank ? .nothing : .damaged, 0)
  }

  /// A checksum of numbers.
  private static func sum(_ numbers: some Collection<UInt64>) -> UInt64 {
    numbers.reduce(0x9e37_79b9_7f4a_7c15) { sum, number in
      let product = (sum ^ number) &* 0xd6e8_feb8_6659_fd93
      return product << 29 | product >> 35
    }
  }
}
