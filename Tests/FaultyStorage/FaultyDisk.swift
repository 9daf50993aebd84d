import Foundation
import GRDBSQLite

/// A disk below SQLite that fails on demand: the store above it is the real one.
///
/// It is a virtual file system in front of the usual one, for the whole process; only files in
/// directories that a test has named can fail. Operations are counted, so that a test can make
/// every single write, truncation and sync fail in turn.
package final class FaultyDisk: @unchecked Sendable {
  // Safety: every mutable property is used under `lock` only.

  /// How an operation fails.
  package enum Fault: CaseIterable, Sendable {
    /// There is no space; nothing is written.
    case full
    /// The owner of the file may use no more space, which SQLite reports as a broken device;
    /// nothing is written.
    case overQuota
    /// The device reports an error; only half of the data is written.
    case broken
  }

  /// An operation that can fail.
  package enum Operation: CaseIterable, Sendable {
    /// Writes bytes.
    case write
    /// Makes a file shorter.
    case truncation
    /// Waits until a file is on the disk.
    case sync
  }

  /// A moment at which a test may hold the thread of an operation.
  package struct Moment: Sendable {
    /// What the thread does.
    package let operation: Operation
    /// Whether it has been done, or has failed.
    package let isOver: Bool
  }

  private let directory: String
  private let lock = NSLock()
  private var countdown: Int?
  private var fault = Fault.full
  private var failing: Set<Operation> = []
  /// How many more operations will fail.
  private var remaining = 0
  private var count = 0
  private var operations = 0
  /// How often the open files have been broken.
  private var breakages = 0
  /// What would be left of each file after a power loss; nil unless that is tracked.
  private var platters: [String: Platter]?
  private var observer: (@Sendable (Moment) -> Void)?

  /// Controls the files of a directory that are opened from then on.
  package init(directory: String) {
    self.directory = directory
    FileSystem.shared.add(self, for: directory)
  }

  /// How many operations have been made to fail.
  package var failureCount: Int { lock.withLock { count } }

  /// How many operations there have been.
  package var operationCount: Int { lock.withLock { operations } }

  /// Makes the n-th operation from now fail, and the following ones as well if the fault is
  /// lasting.
  package func fail(at number: Int, _ fault: Fault, lasting isLasting: Bool) {
    fail(at: number, of: Operation.allCases, fault, times: isLasting ? .max : 1)
  }

  /// Schedules a fault.
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

  /// Makes all operations succeed again.
  package func repair() {
    lock.withLock { countdown = nil }
  }

  /// Makes every open file fail permanently; files opened later work.
  package func breakOpenFiles() {
    lock.withLock { breakages += 1 }
  }

  /// Calls a closure before and after each operation, on the thread that carries it out.
  package func observe(_ observer: (@Sendable (Moment) -> Void)?) {
    lock.withLock { self.observer = observer }
  }

  /// Carries out an operation, which may be told to fail.
  fileprivate func perform(
    _ operation: Operation,
    _ epoch: Int,
    _ body: (Fault?) -> Int32
  ) -> Int32 {
    let observer = lock.withLock { self.observer }
    observer?(Moment(operation: operation, isOver: false))
    defer { observer?(Moment(operation: operation, isOver: true)) }
    return body(next(operation, epoch))
  }

  // MARK: Power loss

  /// Starts tracking what the disk has of the files that are opened.
  package func expectPowerLoss() {
    lock.withLock { platters = [:] }
  }

  /// A possible state of each file, by name, if the power were lost at this point.
  ///
  /// The disk has some of the writes that were not synced. Deleted files are gone.
  ///
  /// - Parameter isKept: Decides whether each of these writes survives.
  /// - Returns: The bytes of the files.
  package func filesAfterPowerLoss(_ isKept: () -> Bool) -> [String: [UInt8]] {
    lock.withLock {
      let present = (platters ?? [:]).filter {
        FileManager.default.fileExists(atPath: directory + "/" + $0.key)
      }
      return present.mapValues { platter in
        var platter = platter
        platter.loseWrites(but: isKept)
        return platter.bytes
      }
    }
  }

  /// Records that a file with these bytes is opened, or will be used by another connection as well.
  fileprivate func opened(_ name: String, _ bytes: @autoclosure () -> [UInt8]) {
    lock.withLock {
      if platters != nil, platters?[name] == nil { platters?[name] = Platter(bytes: bytes()) }
    }
  }

  fileprivate func wrote(_ change: Platter.Change, to name: String) {
    lock.withLock { platters?[name]?.pending.append(change) }
  }

  /// Records a sync of a file; after a failed one the unsynced writes are forgotten, as Linux does.
  fileprivate func synced(_ name: String, _ isKept: Bool) {
    var number = 0
    lock.withLock {
      platters?[name]?.loseWrites {
        // A failing disk has kept some of the data: every third write.
        number += 1
        return isKept || number % 3 == 0
      }
    }
  }

  /// How often the open files have been broken, which a file stores when it is opened.
  fileprivate var epoch: Int { lock.withLock { breakages } }

  /// Whether and how the next operation fails on a file opened in an epoch.
  private func next(_ operation: Operation, _ epoch: Int) -> Fault? {
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

/// What a disk has of a file, and what has been written since without a sync.
struct Platter: Sendable {
  enum Change: Sendable {
    case write(offset: Int, [UInt8])
    case truncation(Int)
  }

  var bytes: [UInt8]
  var pending: [Change] = []

  /// Discards the unsynced writes apart from those that are kept, which become durable.
  mutating func loseWrites(but isKept: () -> Bool) {
    for change in pending where isKept() {
      switch change {
      case .truncation(let size): resize(to: size)
      case .write(let offset, let new):
        if bytes.count < offset + new.count { resize(to: offset + new.count) }
        bytes.replaceSubrange(offset..<(offset + new.count), with: new)
      }
    }
    pending = []
  }

  private mutating func resize(to size: Int) {
    if bytes.count > size { bytes.removeLast(bytes.count - size) }
    bytes += [UInt8](repeating: 0, count: size - bytes.count)
  }
}

/// The virtual file system.
///
/// A file in it is this header, followed by the file that does the work.
private final class FileSystem: @unchecked Sendable {
  // Safety: the pointers are set once and never freed; the disks are used under `lock`.

  static let shared = FileSystem()

  struct Header {
    var methods: UnsafePointer<sqlite3_io_methods>?
    var disk: Unmanaged<FaultyDisk>?
    /// The name of the file, which stays allocated until the file is closed.
    var name: UnsafeMutablePointer<CChar>?
    var epoch: Int
    /// Why the last write failed that did, or 0.
    var systemError: Int32
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
    header.pointee.name = nil
    header.pointee.epoch = 0
    header.pointee.systemError = 0
    if isOpen, let name, let disk = disk(for: String(cString: name)) {
      let path = String(cString: name)
      let shortName = path.split(separator: "/").last.map(String.init) ?? path
      header.pointee.disk = .passRetained(disk)
      header.pointee.name = strdup(shortName)
      header.pointee.epoch = disk.epoch
      disk.opened(shortName, FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? [])
    }
    return code
  }

  /// The methods of every file: those of the real one, except for writing.
  private static func makeMethods() -> UnsafeMutablePointer<sqlite3_io_methods> {
    let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    methods.initialize(to: sqlite3_io_methods())
    methods.pointee.iVersion = 3
    methods.pointee.xClose = { file in
      let code = realFile(file).pointee.pMethods.pointee.xClose(realFile(file))
      if let file {
        let header = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self)
        header.pointee.disk?.release()
        free(header.pointee.name)
      }
      return code
    }
    methods.pointee.xRead = {
      realFile($0).pointee.pMethods.pointee.xRead(realFile($0), $1, $2, $3)
    }
    methods.pointee.xWrite = { file, bytes, count, offset in
      perform(.write, on: file) { fault in
        if fault == .full { return SQLITE_FULL }
        if let fault, let file {
          UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self).pointee.systemError =
            fault == .overQuota ? EDQUOT : EIO
        }
        if fault == .overQuota { return SQLITE_IOERR | (3 << 8) }
        let written = fault == nil ? count : count / 2
        noteWrite(file, bytes, written, offset)
        let real = realFile(file)
        let code = real.pointee.pMethods.pointee.xWrite(real, bytes, written, offset)
        return fault == nil ? code : SQLITE_IOERR | (3 << 8)
      }
    }
    methods.pointee.xTruncate = { file, size in
      perform(.truncation, on: file) { fault in
        guard fault == nil else { return SQLITE_IOERR | (6 << 8) }
        note(file) { $0.wrote(.truncation(Int(size)), to: $1) }
        return realFile(file).pointee.pMethods.pointee.xTruncate(realFile(file), size)
      }
    }
    // Power losses are simulated, so a sync need not wait for the real disk.
    methods.pointee.xSync = { file, flags in
      guard isWatched(file) else {
        return realFile(file).pointee.pMethods.pointee.xSync(realFile(file), flags)
      }
      return perform(.sync, on: file) { fault in
        note(file) { $0.synced($1, fault == nil) }
        return fault == nil ? SQLITE_OK : SQLITE_IOERR | (4 << 8)
      }
    }
    methods.pointee.xFileSize = {
      realFile($0).pointee.pMethods.pointee.xFileSize(realFile($0), $1)
    }
    methods.pointee.xLock = { realFile($0).pointee.pMethods.pointee.xLock(realFile($0), $1) }
    methods.pointee.xUnlock = { realFile($0).pointee.pMethods.pointee.xUnlock(realFile($0), $1) }
    methods.pointee.xCheckReservedLock = {
      realFile($0).pointee.pMethods.pointee.xCheckReservedLock(realFile($0), $1)
    }
    methods.pointee.xFileControl = { file, operation, argument in
      if operation == SQLITE_FCNTL_LAST_ERRNO, let file, let argument, isWatched(file) {
        let header = UnsafeMutableRawPointer(file).assumingMemoryBound(to: Header.self)
        argument.assumingMemoryBound(to: Int32.self).pointee = header.pointee.systemError
        return SQLITE_OK
      }
      return realFile(file).pointee.pMethods.pointee.xFileControl(
        realFile(file),
        operation,
        argument
      )
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

/// The file that does the work, after the header.
private func realFile(
  _ file: UnsafeMutablePointer<sqlite3_file>?
) -> UnsafeMutablePointer<sqlite3_file> {
  guard let file else { preconditionFailure("SQLite always names the file") }
  return (UnsafeMutableRawPointer(file) + MemoryLayout<FileSystem.Header>.size)
    .assumingMemoryBound(to: sqlite3_file.self)
}

/// Whether a file can fail.
private func isWatched(_ file: UnsafeMutablePointer<sqlite3_file>?) -> Bool {
  file.map {
    UnsafeMutableRawPointer($0).assumingMemoryBound(to: FileSystem.Header.self).pointee.disk != nil
  } ?? false
}

/// Reports an operation to a file's disk, with the name of the file.
private func note(
  _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ body: (FaultyDisk, String) -> Void
) {
  guard let file else { return }
  let header = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileSystem.Header.self).pointee
  if let disk = header.disk, let name = header.name {
    body(disk.takeUnretainedValue(), String(cString: name))
  }
}

private func noteWrite(
  _ file: UnsafeMutablePointer<sqlite3_file>?,
  _ bytes: UnsafeRawPointer?,
  _ count: Int32,
  _ offset: Int64
) {
  let written = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
  note(file) { $0.wrote(.write(offset: Int(offset), written), to: $1) }
}

/// Carries out an operation on a file, which fails if its disk is told to.
private func perform(
  _ operation: FaultyDisk.Operation,
  on file: UnsafeMutablePointer<sqlite3_file>?,
  _ body: (FaultyDisk.Fault?) -> Int32
) -> Int32 {
  guard let file else { return body(nil) }
  let header = UnsafeMutableRawPointer(file).assumingMemoryBound(to: FileSystem.Header.self).pointee
  guard let disk = header.disk?.takeUnretainedValue() else { return body(nil) }
  return disk.perform(operation, header.epoch, body)
}

/// The seeds of a suite that lets the power go: those given, or as many as `POWER_LOSS_SEEDS` says.
package func powerLossSeeds(_ committed: [UInt64]) -> [UInt64] {
  let count = ProcessInfo.processInfo.environment["POWER_LOSS_SEEDS"].flatMap(UInt64.init)
  return count.map { Array(1...max(1, $0)) } ?? committed
}

/// A temporary fault of a disk: the n-th operation of a kind fails, and some after it.
package struct DiskFault: Sendable, CustomStringConvertible {
  /// The kind of failure.
  package enum Kind: String, CaseIterable, Sendable {
    /// A write that is only half done.
    case write
    case sync
    /// A write that fails for lack of space.
    case full
  }

  /// The kind of failure.
  package let kind: Kind
  /// The number of the first operation that fails, from 1.
  package let number: Int
  /// How many operations fail before the disk works again.
  package let times: Int

  /// Describes a fault.
  package init(_ kind: Kind, at number: Int, times: Int) {
    self.kind = kind
    self.number = number
    self.times = times
  }

  package var description: String { "\(kind) \(number) fails, \(times) in all" }
}
