internal import Foundation
internal import GRDBSQLite

/// A disk that fails on demand, below SQLite: the store above it is the real one.
///
/// It is a virtual file system in front of the usual one, for the whole process; only files in
/// directories that a test has named can fail. What it fails at is counted, so that a test can go
/// through every single write, truncation and wait for the disk.
package final class FaultyDisk: @unchecked Sendable {
  // Safety: every mutable property is used under `lock` only.

  /// How an operation fails.
  package enum Fault: CaseIterable, Sendable {
    /// There is no space: nothing is written.
    case full
    /// The device reports an error: half of what was to be written is.
    case broken
  }

  /// What can fail.
  fileprivate enum Operation: CaseIterable {
    case write
    case truncation
    case sync
  }

  private let directory: String
  private let lock = NSLock()
  private var countdown: Int?
  private var fault = Fault.full
  /// What fails of what is done.
  private var failing: Set<Operation> = []
  /// How many operations are yet to fail.
  private var remaining = 0
  private var count = 0
  private var operations = 0
  /// Counts how often the open files have been broken.
  private var breakages = 0

  /// Makes the files of a directory fail when this is told so, from the next opening on.
  package init(directory: String) {
    self.directory = directory
    FileSystem.shared.add(self, for: directory)
  }

  /// How many operations have been made to fail so far.
  package var failureCount: Int { lock.withLock { count } }

  /// How many operations there have been.
  package var operationCount: Int { lock.withLock { operations } }

  /// Lets the n-th operation from now fail, and those after it when the fault lasts.
  package func fail(at number: Int, _ fault: Fault, lasting isLasting: Bool) {
    fail(at: number, of: Operation.allCases, fault, times: isLasting ? .max : 1)
  }

  /// Lets a fault happen, from now on.
  package func fail(_ fault: DiskFault) {
    switch fault.kind {
    case .write: fail(at: fault.number, of: [.write], .broken, times: fault.times)
    case .sync: fail(at: fault.number, of: [.sync], .broken, times: fault.times)
    case .full: fail(at: fault.number, of: [.write], .full, times: fault.times)
    }
  }

  private func fail(at number: Int, of operations: [Operation], _ fault: Fault, times: Int) {
    lock.withLock {
      countdown = number
      failing = Set(operations)
      self.fault = fault
      remaining = times
    }
  }

  /// Lets everything work from now on.
  package func repair() {
    lock.withLock { countdown = nil }
  }

  /// Lets every file that is open now fail for good; those that are opened from now on work.
  package func breakOpenFiles() {
    lock.withLock { breakages += 1 }
  }

  /// How often the open files have been broken, which a file remembers that is opened.
  fileprivate var epoch: Int { lock.withLock { breakages } }

  /// Whether the operation that is about to happen on a file of an epoch fails, and how.
  fileprivate func next(_ operation: Operation, _ epoch: Int) -> Fault? {
    lock.withLock {
      operations += 1
      if epoch < breakages {
        count += 1
        return .broken
      }
      guard failing.contains(operation), let left = countdown else { return nil }
      guard left <= 1 else {
        countdown = left - 1
        return nil
      }
      remaining -= 1
      if remaining == 0 { countdown = nil }
      count += 1
      return fault
    }
  }
}

/// The virtual file system.
///
/// A file of it is this header, followed by the file that does the work.
private final class FileSystem: @unchecked Sendable {
  // Safety: the pointers are set once and never freed; the disks are used under `lock`.

  static let shared = FileSystem()

  struct Header {
    var methods: UnsafePointer<sqlite3_io_methods>?
    var disk: Unmanaged<FaultyDisk>?
    var epoch: Int
  }

  private let base: UnsafeMutablePointer<sqlite3_vfs>
  private let methods = makeMethods()
  private let lock = NSLock()
  private var disks: [String: FaultyDisk] = [:]

  private init() {
    base = sqlite3_vfs_find(nil)
    let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    system.initialize(to: base.pointee)
    system.pointee.szOsFile += Int32(MemoryLayout<Header>.size)
    system.pointee.zName = UnsafePointer(strdup("faulty"))
    system.pointee.pNext = nil
    system.pointee.xOpen = { _, name, file, flags, result in
      FileSystem.shared.open(name, file, flags, result)
    }
    sqlite3_vfs_register(system, 1)
  }

  func add(_ disk: FaultyDisk, for directory: String) {
    lock.withLock { disks[directory] = disk }
  }

  private func disk(for path: String) -> FaultyDisk? {
    lock.withLock { disks.first { path.hasPrefix($0.key + "/") }?.value }
  }

  private func open(
    _ name: UnsafePointer<CChar>?,
    _ file: UnsafeMutablePointer<sqlite3_file>?,
    _ flags: Int32,
    _ result: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    guard let file else { return SQLITE_CANTOPEN }
    let real = realFile(file)
    real.pointee.pMethods = nil
    let code = base.pointee.xOpen(base, name, real, flags, result)
    let header = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self)
    let isOpen = real.pointee.pMethods != nil
    header.pointee.methods = isOpen ? UnsafePointer(methods) : nil
    header.pointee.disk = nil
    header.pointee.epoch = 0
    if isOpen, let name, let disk = disk(for: String(cString: name)) {
      header.pointee.disk = .passRetained(disk)
      header.pointee.epoch = disk.epoch
    }
    return code
  }

  /// What every file does: the same as the real one, but for writing.
  private static func makeMethods() -> UnsafeMutablePointer<sqlite3_io_methods> {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 3
    methods.pointee.xClose = { file in
      let code = realFile(file).pointee.pMethods.pointee.xClose(realFile(file))
      if let file {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee.disk?.release()
      }
      return code
    }
    methods.pointee.xRead = {
      realFile($0).pointee.pMethods.pointee.xRead(realFile($0), $1, $2, $3)
    }
    methods.pointee.xWrite = { file, bytes, count, offset in
      switch nextFault(file, .write) {
      case nil:
        return realFile(file).pointee.pMethods.pointee.xWrite(realFile(file), bytes, count, offset)
      case .full: return SQLITE_FULL
      case .broken:
        _ = realFile(file).pointee.pMethods.pointee.xWrite(
          realFile(file),
          bytes,
          count / 2,
          offset
        )
        return SQLITE_IOERR | (3 << 8)
      }
    }
    methods.pointee.xTruncate = {
      nextFault($0, .truncation) == nil
        ? realFile($0).pointee.pMethods.pointee.xTruncate(realFile($0), $1)
        : SQLITE_IOERR | (6 << 8)
    }
    // No power is lost in a test, so a wait for the disk that does not fail takes no time either.
    methods.pointee.xSync = { file, flags in
      guard isWatched(file) else {
        return realFile(file).pointee.pMethods.pointee.xSync(realFile(file), flags)
      }
      return nextFault(file, .sync) == nil ? SQLITE_OK : SQLITE_IOERR | (4 << 8)
    }
    methods.pointee.xFileSize = {
      realFile($0).pointee.pMethods.pointee.xFileSize(realFile($0), $1)
    }
    methods.pointee.xLock = { realFile($0).pointee.pMethods.pointee.xLock(realFile($0), $1) }
    methods.pointee.xUnlock = { realFile($0).pointee.pMethods.pointee.xUnlock(realFile($0), $1) }
    methods.pointee.xCheckReservedLock = {
      realFile($0).pointee.pMethods.pointee.xCheckReservedLock(realFile($0), $1)
    }
    methods.pointee.xFileControl = {
      realFile($0).pointee.pMethods.pointee.xFileControl(realFile($0), $1, $2)
    }
    methods.pointee.xSectorSize = {
      realFile($0).pointee.pMethods.pointee.xSectorSize(realFile($0))
    }
    methods.pointee.xDeviceCharacteristics = {
      realFile($0).pointee.pMethods.pointee.xDeviceCharacteristics(realFile($0))
    }
    methods.pointee.xShmMap = {
      realFile($0).pointee.pMethods.pointee.xShmMap(realFile($0), $1, $2, $3, $4)
    }
    methods.pointee.xShmLock = {
      realFile($0).pointee.pMethods.pointee.xShmLock(realFile($0), $1, $2, $3)
    }
    methods.pointee.xShmBarrier = {
      realFile($0).pointee.pMethods.pointee.xShmBarrier(realFile($0))
    }
    methods.pointee.xShmUnmap = {
      realFile($0).pointee.pMethods.pointee.xShmUnmap(realFile($0), $1)
    }
    methods.pointee.xFetch = {
      realFile($0).pointee.pMethods.pointee.xFetch(realFile($0), $1, $2, $3)
    }
    methods.pointee.xUnfetch = {
      realFile($0).pointee.pMethods.pointee.xUnfetch(realFile($0), $1, $2)
    }
    return methods
  }
}

/// The file that does the work, behind the header.
private func realFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?
) -> UnsafeMutablePointer<sqlite3_file> {
  guard let file else { preconditionFailure("SQLite always names the file") }
  return (UnsafeMutableRawPointer(file) + MemoryLayout<FileSystem.Header>.size)
    .assumingMemoryBound(to: sqlite3_file.self)
}

/// Whether a file is one of those that can fail.
private func isWatched(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Bool {
  file.map {
    UnsafeMutableRawPointer($0).assumingMemoryBound(to: FileSystem.Header.self).pointee.disk != nil
  } ?? false
}

/// Whether the operation on a file that is about to happen fails.
private func nextFault(
  _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ operation: FaultyDisk.Operation
) -> FaultyDisk.Fault? {
  file.flatMap {
    let header = UnsafeMutableRawPointer($0).assumingMemoryBound(to: FileSystem.Header.self).pointee
    return header.disk?.takeUnretainedValue().next(operation, header.epoch)
  }
}
