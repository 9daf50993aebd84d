import Foundation

/// Reads SQLite's write-ahead log byte by byte, to find commits behind a damaged frame, and the file
/// that the log belongs to.
///
/// SQLite takes the first frame with a wrong checksum for the end of the log, whether a power
/// failure left the frame incomplete or one of its bits has flipped since. Nothing behind an
/// incomplete frame was acknowledged. A batch is written only once the batch before it is durable,
/// so an intact row anywhere in the log proves that all commits before its batch were acknowledged.
struct WriteAheadLog {
  private static let headerBytes = 32
  private static let frameHeaderBytes = 24

  private let path: String
  private let pageBytes: Int
  private let frameCount: Int
  private let descriptor: FileHandle

  /// Opens the log of a database, which may be a link or missing; nil when there is none.
  init?(of database: String) throws(StoreError) {
    path = CompanionFile.log(of: database)
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw StoreError(systemCode: errno, "cannot open \(path)")
    }
    descriptor = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    var status = stat()
    guard fstat(number, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    if status.st_size == 0 { return nil }
    var header = [UInt8](repeating: 0, count: Self.headerBytes)
    _ = pread(number, &header, header.count, 0)
    let size = Self.number(header[8..<12])
    // The pages of stores have this size, which is assumed if the header is damaged.
    pageBytes = (512...65_536).contains(size) && size & (size - 1) == 0 ? size : 4_096
    frameCount =
      max(0, Int(status.st_size) - Self.headerBytes) / (Self.frameHeaderBytes + pageBytes)
  }

  /// The last commit that the log proves to have been acknowledged; 0 if there is none.
  ///
  /// Frames that SQLite has already copied into the file count as well.
  ///
  /// - Complexity: O(bytes); a hundredth of a second for 16 MiB
  func provenCommit() -> Int64 {
    var proven: Int64 = 0
    var page = [UInt8](repeating: 0, count: pageBytes)
    // The last commits lie near the end.
    for frame in stride(from: frameCount - 1, through: 0, by: -1) {
      guard read(frame, into: &page) else { continue }
      for cell in LeafPage(page, usesFileHeader: header(of: frame)?.page == 1).cells.reversed() {
        // Neither this batch nor an earlier one proves more.
        if cell.row <= proven + 1 { break }
        guard let payload = payload(of: cell, in: frame),
          let commits = try? BatchCoding.decode(payload, revision: cell.row),
          let first = commits.first?.revision,
          zip(commits, first...).allSatisfy({ $0.revision == $1 })
        else { continue }
        proven = max(proven, first - 1)
      }
    }
    return proven
  }

  // MARK: Identity

  /// The identities in the transactions that SQLite would read; nil if there are none of those.
  ///
  /// - Complexity: O(bytes)
  func identities() -> [LogIdentity]? {
    var header = [UInt8](repeating: 0, count: Self.headerBytes)
    guard pread(descriptor.fileDescriptor, &header, header.count, 0) == header.count,
      var sum = Checksum(magic: Self.number(header[0..<4]))
    else { return nil }
    sum.add(header[0..<24])
    guard sum.bytes == Array(header[24..<32]) else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.frameHeaderBytes + pageBytes)
    var waiting: [LogIdentity] = []
    var found: [LogIdentity]?
    for frame in 0..<frameCount {
      guard
        pread(descriptor.fileDescriptor, &bytes, bytes.count, offset(of: frame)) == bytes.count,
        bytes[8..<16].elementsEqual(header[16..<24])
      else { break }
      sum.add(bytes[0..<8])
      sum.add(bytes[Self.frameHeaderBytes...])
      guard sum.bytes == Array(bytes[16..<24]) else { break }
      let page = Array(bytes[Self.frameHeaderBytes...])
      let isFirst = Self.number(bytes[0..<4]) == 1
      waiting += LeafPage(page, usesFileHeader: isFirst).cells.compactMap { LogIdentity($0.local) }
      if Self.number(bytes[4..<8]) != 0 {
        found = (found ?? []) + waiting
        waiting = []
      }
    }
    return found
  }

  /// The checksum of SQLite's log, over pairs of 32-bit numbers.
  private struct Checksum {
    private let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    /// Starts the checksum of a log; nil when the file is not a log.
    init?(magic: Int) {
      guard magic & ~1 == 0x377F_0682 else { return nil }
      isBigEndian = magic & 1 == 1
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
      bytes.withUnsafeBytes { bytes in
        for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
          first &+= word(bytes, at: offset) &+ second
          second &+= word(bytes, at: offset + 4) &+ first
        }
      }
    }

    private func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt32 {
      // Safety: the offset is at least four bytes before the end.
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      return isBigEndian ? UInt32(bigEndian: word) : UInt32(littleEndian: word)
    }

    /// The bytes in the file, highest first.
    var bytes: [UInt8] {
      [first, second].flatMap { word in
        (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * $0)) }
      }
    }
  }

  // MARK: Frames

  private func offset(of frame: Int) -> Int {
    Self.headerBytes + frame * (Self.frameHeaderBytes + pageBytes)
  }

  private func read(_ frame: Int, into page: inout [UInt8]) -> Bool {
    let start = offset(of: frame) + Self.frameHeaderBytes
    return pread(descriptor.fileDescriptor, &page, page.count, start) == page.count
  }

  /// The number of the page that a frame holds, and whether the frame ends a transaction.
  private func header(of frame: Int) -> (page: Int, isLast: Bool)? {
    var bytes = [UInt8](repeating: 0, count: 8)
    let count = pread(descriptor.fileDescriptor, &bytes, bytes.count, offset(of: frame))
    guard count == bytes.count else { return nil }
    return (Self.number(bytes[0..<4]), Self.number(bytes[4..<8]) != 0)
  }

  /// The bytes of a row, which may continue in other frames of the same transaction.
  private func payload(of cell: LeafPage.Cell, in frame: Int) -> [UInt8]? {
    guard var next = cell.overflow else { return cell.local }
    guard let pages = pages(ofTransactionWith: frame) else { return nil }
    var bytes = cell.local
    var page = [UInt8](repeating: 0, count: pageBytes)
    while bytes.count < cell.length {
      guard let frame = pages[next], read(frame, into: &page) else { return nil }
      next = Self.number(page[0..<4])
      bytes += page[4...].prefix(cell.length - bytes.count)
    }
    return bytes
  }

  /// The frames of the transaction that a frame belongs to, by page number.
  private func pages(ofTransactionWith frame: Int) -> [Int: Int]? {
    var first = frame
    while first > 0, header(of: first - 1)?.isLast == false { first -= 1 }
    var pages: [Int: Int] = [:]
    for frame in first..<frameCount {
      guard let header = header(of: frame) else { return nil }
      pages[header.page] = frame
      if header.isLast { break }
    }
    return pages
  }

  fileprivate static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }
}

/// A page of rows that consist of a number and a payload, as in the log of commits.
private struct LeafPage {
  struct Cell {
    let row: Int64
    /// The length of the payload in bytes, including its overflow pages.
    let length: Int
    /// The part of the payload in this page.
    let local: [UInt8]
    /// The page on which the payload continues.
    let overflow: Int?
  }

  private static let kind: UInt8 = 0x0D
  private static let nullType = 0

  /// The rows in order; none if the page is damaged or of another kind.
  let cells: [Cell]

  init(_ page: [UInt8], usesFileHeader: Bool) {
    let start = usesFileHeader ? 100 : 0
    guard page[start] == Self.kind else {
      cells = []
      return
    }
    let count = WriteAheadLog.number(page[(start + 3)..<(start + 5)])
    let pointers = stride(from: start + 8, to: min(start + 8 + 2 * count, page.count - 1), by: 2)
    cells = pointers.compactMap {
      Self.cell(page, at: WriteAheadLog.number(page[$0..<($0 + 2)]))
    }
  }

  /// A row that consists of a number and bytes; nil for any other row.
  private static func cell(_ page: [UInt8], at start: Int) -> Cell? {
    var position = start
    guard let recordBytes = number(page, at: &position), let row = number(page, at: &position)
    else {
      return nil
    }
    let content = position
    guard let headerBytes = number(page, at: &position),
      number(page, at: &position) == nullType,
      let type = number(page, at: &position), type >= 12, type & 1 == 0,
      position == content + headerBytes, recordBytes == headerBytes + (type - 12) / 2
    else { return nil }
    let (local, goesOn) = localBytes(of: recordBytes, pageBytes: page.count)
    let end = content + local
    guard position <= end, end + (goesOn ? 4 : 0) <= page.count else { return nil }
    return Cell(
      row: Int64(row),
      length: (type - 12) / 2,
      local: Array(page[position..<end]),
      overflow: goesOn ? WriteAheadLog.number(page[end..<(end + 4)]) : nil
    )
  }

  /// How many bytes of a record are in the page of its row, according to SQLite's file format.
  private static func localBytes(of bytes: Int, pageBytes: Int) -> (Int, goesOn: Bool) {
    let most = pageBytes - 35
    guard bytes > most else { return (bytes, false) }
    let least = (pageBytes - 12) * 32 / 255 - 23
    let wanted = least + (bytes - least) % (pageBytes - 4)
    return (wanted <= most ? wanted : least, true)
  }

  /// Reads a number of up to nine bytes, highest first; nil for a number that no row of a store
  /// has.
  private static func number(_ page: [UInt8], at position: inout Int) -> Int? {
    var value = 0
    for _ in 0..<8 {
      guard position < page.count else { return nil }
      let byte = page[position]
      position += 1
      value = value << 7 | Int(byte & 127)
      if byte < 128 { return value }
    }
    return nil
  }
}
