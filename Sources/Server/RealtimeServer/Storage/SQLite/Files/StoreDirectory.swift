import DurableFiles
import Foundation

struct StoreDirectory: Sendable {
  let path: String

  var database: String { path + "/database.sqlite" }

  /// Creates the directory and its parents, accessible only to the owner.
  func create() throws(StoreError) {
    try StoreError.translating(at: path) { try PrivateDirectory.create(path) }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(systemCode: ENOTDIR, "cannot use \(path)")
    }
  }

  /// Revokes the access of other users to an existing directory, and returns whether they had any.
  ///
  /// A directory with files of other programs is refused, since others may rely on its permissions.
  func makePrivate() throws(StoreError) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    guard status.st_mode & 0o077 != 0 else { return false }
    let problem: String? =
      if status.st_uid != geteuid() {
        "belongs to another user (number \(status.st_uid))"
      } else if status.st_mode & S_ISVTX != 0 || !hasOnlyOurs {
        "contains other files"
      } else {
        nil
      }
    if let problem {
      throw StoreError(
        .notWritable,
        description:
          "\(path) is open to other users, and \(problem); run \"chmod go= \(path)\", or choose a"
          + " directory for nothing else"
      )
    }
    guard chmod(path, status.st_mode & 0o700) == 0 else {
      throw StoreError(systemCode: errno, "cannot make \(path) private")
    }
    return true
  }

  /// Whether the directory holds a store, or only files that other users cannot open.
  private var hasOnlyOurs: Bool {
    if (try? hasDatabase) == true || access(path + "/lock", F_OK) == 0 { return true }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      return false
    }
    return names.allSatisfy { name in
      var status = stat()
      return lstat("\(path)/\(name)", &status) == 0 && status.st_uid == geteuid()
        && status.st_mode & 0o077 == 0
    }
  }

  /// Creates the database file, durably and accessible only to the owner.
  ///
  /// SQLite gives its companion files the same permissions.
  func createFile() throws(StoreError) {
    try StoreError.translating(at: database) {
      try PrivateFile.create(database, followsLink: true)
    }
  }

  /// Whether there is a database, or evidence that there was one.
  var hasDatabase: Bool {
    get throws(StoreError) {
      let isThere = try StoreError.translating(at: path) { try FilePath.exists(database) }
      return isThere || CompanionFile.markProvesData(of: database)
    }
  }

  // MARK: Copies

  /// Copies the files of the store durably into a new directory beside them, whose path it returns.
  ///
  /// A number is added to the name of that directory.
  ///
  /// - Throws: `FileFailure` when a file cannot be copied.
  func copyAside(as name: String) throws -> String {
    var number = 1
    while access("\(path)/\(name)-\(number)", F_OK) == 0 { number += 1 }
    let target = "\(path)/\(name)-\(number)"
    try PrivateDirectory.create(target)
    let file = database
    let names = [
      (file, "database.sqlite"), (CompanionFile.log(of: file), "database.sqlite-wal"),
      (CompanionFile.mark(of: file), "database.sqlite-mark"),
    ]
    for (source, name) in names where access(source, F_OK) == 0 {
      try Self.copy(source, to: "\(target)/\(name)")
    }
    try DirectoryNames.synchronize(target)
    try DirectoryNames.synchronize(path)
    return target
  }

  /// Replaces the database with another file, and removes its companions.
  ///
  /// Until that is done, the mark or the log proves that data is missing, so that no server starts
  /// on what is left if this is interrupted.
  ///
  /// - Throws: `FileFailure`; this may be repeated then.
  func replaceDatabase(with draft: String) throws {
    let file = CompanionFile.resolved(database)
    for name in [file, file + "-journal", file + "-shm", file + "-wal"] {
      try CompanionFile.remove(name)
    }
    let parent = FilePath.directory(of: file)
    try DirectoryNames.synchronize(parent)
    guard rename(draft, file) == 0 else {
      throw FileFailure(errno, action: "cannot write \(file)")
    }
    try DirectoryNames.synchronize(parent)
    try CompanionFile.remove(CompanionFile.mark(of: database))
    try DirectoryNames.synchronize(path)
  }

  /// Copies a file, durably and in pieces, into a new one that is accessible only to the owner.
  private static func copy(_ source: String, to target: String) throws {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw FileFailure(errno, action: "cannot open \(source)") }
    defer { close(input) }
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw FileFailure(errno, action: "cannot write \(target)") }
    defer { close(output) }
    PrivateFile.inheritOwner(output, at: target)
    var buffer = [UInt8](repeating: 0, count: 1_024 * 1_024)
    while true {
      let count = read(input, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileFailure(errno, action: "cannot read \(source)") }
      if count == 0 { break }
      let code = PrivateFile.writeAll(Array(buffer[..<count]), to: output)
      guard code == 0 else { throw FileFailure(code, action: "cannot write \(target)") }
    }
    guard fsync(output) == 0 else { throw FileFailure(errno, action: "cannot write \(target)") }
  }
}

/// The files beside a database.
enum CompanionFile {
  /// The path of the mark that records what has been acknowledged.
  static func mark(of database: String) -> String { database + "-mark" }

  /// The path of SQLite's write-ahead log.
  static func log(of database: String) -> String { resolved(database) + "-wal" }

  /// The path of the file that a database is, which SQLite's companion files are beside.
  static func resolved(_ database: String) -> String {
    let resolved = realpath(database, nil).map { pointer in
      defer { free(pointer) }
      return String(cString: pointer)
    }
    return resolved ?? database
  }

  /// The paths of a database and of all that is beside it.
  static func all(of database: String) -> [String] {
    [mark(of: database)] + ["", "-journal", "-shm", "-wal"].map { resolved(database) + $0 }
  }

  /// Removes a file, unless there is none.
  static func remove(_ path: String) throws(FileFailure) {
    guard unlink(path) == 0 || errno == ENOENT else {
      throw FileFailure(errno, action: "cannot remove \(path)")
    }
  }

  /// Whether the mark of a database says that something was acknowledged.
  static func markProvesData(of database: String) -> Bool {
    guard let reading = try? HighWaterMark.read(mark(of: database)) else { return false }
    return reading != .nothing && reading != .position(HighWaterMark.Position())
  }
}

/// Exclusive access to a data directory, held until the value is released or the process ends.
final class DirectoryLock: Sendable {
  private let descriptor: Int32

  /// Takes the lock, or throws an error that names the holder once the patience is exhausted.
  init(directory: String, patience: Duration = .zero) throws(StoreError) {
    let path = directory + "/lock"
    descriptor = PrivateFile.open(path, O_RDWR)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(path)") }
    guard Self.lock(descriptor, patience: patience) else {
      let code = errno
      let holder = Self.holder(descriptor)
      guard code == EWOULDBLOCK else { throw StoreError(systemCode: code, "cannot lock \(path)") }
      throw StoreError(
        .locked,
        description: "\(directory) is in use by \(holder); stop it, or choose another directory"
      )
    }
    let text = Array("\(getpid())\n".utf8)
    // The process number is for the error message; the lock works without it.
    if ftruncate(descriptor, 0) == 0 { _ = pwrite(descriptor, text, text.count, 0) }
  }

  deinit {
    // A child process that has not run its program yet has a copy of the descriptor, which would
    // keep the lock.
    release()
    close(descriptor)
  }

  /// Releases the directory; the value must not be used afterwards.
  func release() { _ = flock(descriptor, LOCK_UN) }

  /// Polls every millisecond, so that a waiting process gets the lock before one that is just
  /// starting.
  private static func lock(_ descriptor: Int32, patience: Duration) -> Bool {
    let end = ContinuousClock.now + patience
    while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK, ContinuousClock.now < end else { return false }
      poll(nil, 0, 1)
    }
    return true
  }

  /// The number of the process that holds a directory, if any, found without touching the lock.
  static func holder(of directory: String, in list: String = "/proc/locks") -> pid_t? {
    // A lock that ends while the list is read can hide another one.
    for _ in 0..<3 {
      if let holder = listedHolder(of: directory, in: list) { return holder }
    }
    return nil
  }

  private static func listedHolder(of directory: String, in list: String) -> pid_t? {
    var status = stat()
    guard stat(directory + "/lock", &status) == 0, let locks = fopen(list, "re") else {
      return nil
    }
    // The system gives a long list in pieces, and has no size for it: Foundation takes the first
    // piece for the whole.
    defer { fclose(locks) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), locks) != nil {
      // A line is: 1: FLOCK ADVISORY WRITE process device:device:inode start end
      let words = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
        as: UTF8.self
      )
      .split(separator: " ")
      guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(status.st_ino)"),
        mayHaveOpen(status, process: words[4])
      else { continue }
      return pid_t(words[4])
    }
    return nil
  }

  /// Whether a process has a file open, as far as the system says.
  ///
  /// A file of another file system may have the same number, and some file systems are listed by
  /// another device than they have.
  private static func mayHaveOpen(_ file: stat, process: Substring) -> Bool {
    let path = "/proc/\(process)/fd"
    let names = try? FileManager.default.contentsOfDirectory(atPath: path)
    return names?.contains { name in
      var status = stat()
      return stat("\(path)/\(name)", &status) == 0 && status.st_ino == file.st_ino
        && status.st_dev == file.st_dev
    } ?? true
  }

  private static func holder(_ descriptor: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 32)
    let count = pread(descriptor, &buffer, buffer.count, 0)
    let text = String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    return digits.isEmpty ? "another server" : "another server (process \(digits))"
  }
}
