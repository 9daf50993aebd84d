internal import Foundation

/// Records in a small second file how far a file has been written, so that a lost end is detected.
///
/// The owner of the file moves the mark after synchronizing the file, so the mark is never ahead of
/// the file. Moving it takes one write and does not wait for the disk. The mark survives the
/// process at once, and a power failure after some seconds or once ``synchronize()`` has returned.
/// Two slots with checksums are written alternately, so that one of them is always intact.
///
/// The mark holds no lock: the owner of the file also owns the mark and moves it from one thread at
/// a time.
package final class HighWaterMark {
  /// A position in the history of a file.
  package struct Position: Sendable, Hashable {
    /// The number of the last commit.
    package var commit: Int64
    package var others: Int64
    /// The checksum of the last commit, or 0 if it has none.
    package var seal: UInt64

    /// Makes a position; the default precedes every commit.
    package init(commit: Int64 = 0, others: Int64 = 0, seal: UInt64 = 0) {
      self.commit = commit
      self.others = others
      self.seal = seal
    }
  }

  /// The content of a mark's file.
  package enum Reading: Sendable, Hashable {
    /// Nothing: the mark has never been moved, or its file is missing.
    case nothing
    /// The last intact position.
    case position(Position)
    case damaged
  }

  /// The distance between the slots in bytes, which puts them into different disk sectors.
  private static let stride = 4_096
  private static let recordBytes = 48
  /// "HrthMark", read as a number.
  private static let magic: UInt64 = 0x6b72_614d_6874_7248

  private let path: String
  private let descriptor: CInt
  /// The number of moves, which selects the slot.
  private var turn: UInt64

  /// Opens the file of a mark; a missing file is created durably.
  package init(path: String) throws(FileFailure) {
    try PrivateFile.create(path, followsLink: false)
    self.path = path
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
    turn = 0
    guard descriptor >= 0 else { throw FileFailure(errno, action: "cannot open \(path)") }
    turn = try Self.read(descriptor, path: path).turn
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Reads a mark, while another thread or process may be moving it.
  ///
  /// - Returns: The content.
  /// - Throws: ``FileFailure`` if it cannot be read.
  package static func read(_ path: String) throws(FileFailure) -> Reading {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      if errno == ENOENT { return .nothing }
      throw FileFailure(errno, action: "cannot open \(path)")
    }
    defer { close(descriptor) }
    return try read(descriptor, path: path).reading
  }

  /// Moves the mark.
  ///
  /// - Throws: ``FileFailure``; the mark then keeps its old position, which is safe.
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
      throw FileFailure(count < 0 ? errno : EIO, action: "cannot write \(path)")
    }
  }

  /// Waits until the mark is on disk, while another thread may be moving it.
  package func synchronize() throws(FileFailure) {
    guard fdatasync(descriptor) == 0 else {
      throw FileFailure(errno, action: "cannot write \(path)")
    }
  }

  // MARK: Records

  private static func read(
    _ descriptor: CInt,
    path: String
  ) throws(FileFailure) -> (reading: Reading, turn: UInt64) {
    var best: (position: Position, turn: UInt64)?
    var isBlank = true
    for slot in 0...1 {
      var numbers = [UInt64](repeating: 0, count: recordBytes / 8)
      let count = numbers.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress, $0.count, slot * stride)
      }
      guard count >= 0 else { throw FileFailure(errno, action: "cannot read \(path)") }
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

  private static func sum(_ numbers: some Collection<UInt64>) -> UInt64 {
    numbers.reduce(0x9e37_79b9_7f4a_7c15) { sum, number in
      let product = (sum ^ number) &* 0xd6e8_feb8_6659_fd93
      return product << 29 | product >> 35
    }
  }
}
