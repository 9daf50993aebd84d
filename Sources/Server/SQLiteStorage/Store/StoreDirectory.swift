import DurableFiles
import Foundation
import RealtimeHub

/// The directory of a store and the names in it.
struct StoreDirectory: Sendable {
  /// The path of the directory.
  let path: String

  /// The path of the database.
  var database: String { path + "/database.sqlite" }

  /// Creates the directory, and those above, for the owner only.
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

  /// Takes a directory from others that was there before, and could be entered by them.
  ///
  /// Where it holds what is not of this program, somebody else may need it as it is.
  ///
  /// - Returns: Whether that was necessary.
  /// - Throws: ``StoreError`` when it is not ours alone.
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
        "has other things in it"
      } else {
        nil
      }
    if let problem {
      throw StoreError(
        .notWritable,
        "\(path) may be entered by others, and \(problem); \"chmod go= \(path)\" it, or choose a"
          + " directory that holds nothing else"
      )
    }
    guard chmod(path, status.st_mode & 0o700) == 0 else {
      throw StoreError(systemCode: errno, "cannot keep others out of \(path)")
    }
    return true
  }

  /// Whether there is a store, or nothing that others can use.
  private var hasOnlyOurs: Bool {
    if hasDatabase || access(path + "/lock", F_OK) == 0 { return true }
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
      return false
    }
    return names.allSatisfy { name in
      var status = stat()
      return lstat("\(path)/\(name)", &status) == 0 && status.st_uid == geteuid()
        && status.st_mode & 0o077 == 0
    }
  }

  /// Creates the file of the database, durably and for the owner only.
  ///
  /// Its companions take over its permissions.
  ///
  /// - Throws: ``StoreError`` when it cannot be created, or the disk does not work.
  func createFile() throws(StoreError) {
    try StoreError.translating(at: database) {
      try PrivateFile.create(database, followsLink: true)
    }
  }

  /// Whether there is a database, or a sign that there was one.
  var hasDatabase: Bool {
    access(database, F_OK) == 0 || StoreMark.isOccupied(beside: database)
  }

  // MARK: Copies

  /// Copies the files of the store into a new directory beside them, and waits for the disk.
  ///
  /// - Returns: The path of that directory.
  func copyAside() throws -> String {
    var number = 1
    while access("\(path)/damaged-\(number)", F_OK) == 0 { number += 1 }
    let target = "\(path)/damaged-\(number)"
    try PrivateDirectory.create(target)
    let file = database
    let names = [
      (file, "database.sqlite"), (WriteAheadLog.path(of: file), "database.sqlite-wal"),
      (StoreMark.path(beside: file), "database.sqlite-mark"),
    ]
    for (source, name) in names where access(source, F_OK) == 0 {
      try Self.copy(source, to: "\(target)/\(name)")
    }
    try DirectoryNames.synchronize(target)
    try DirectoryNames.synchronize(path)
    return target
  }

  /// Copies a file piece by piece into a new one for its owner only, durably.
  private static func copy(_ source: String, to target: String) throws {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw FileFailure(errno, action: "cannot open \(source)") }
    defer { close(input) }
    let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw FileFailure(errno, action: "cannot write \(target)") }
    defer { close(output) }
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
