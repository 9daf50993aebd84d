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
    let components = path.split(separator: "/", omittingEmptySubsequences: true)
    var current = path.hasPrefix("/") ? "" : "."
    for component in components {
      current += "/" + component
      if mkdir(current, 0o700) == 0 || errno == EEXIST { continue }
      throw StoreError(systemCode: errno, "cannot create the directory \(current)")
    }
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw StoreError(systemCode: ENOTDIR, "cannot use \(path)")
    }
  }

  /// Creates the file of the database for the owner only; its companions take over its permissions.
  ///
  /// As long as it is empty, its name and those of the directories above are made durable, whoever has
  /// made them: what is committed later would go with them when the power does.
  ///
  /// - Parameter synchronize: Makes the names in a directory durable.
  /// - Throws: ``StoreError`` when it cannot be created, or the disk does not work.
  func createFile(
    synchronize: (String) throws(StoreError) -> Void = Self.synchronize
  ) throws(StoreError) {
    let descriptor = open(database, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoreError(systemCode: errno, "cannot open \(database)") }
    defer { close(descriptor) }
    try Self.makeNameDurable(of: database, descriptor, synchronize)
  }

  /// Makes the name of a file, and those of the directories above, durable as long as it is empty.
  static func makeNameDurable(
    of file: String,
    _ descriptor: CInt,
    _ synchronize: (String) throws(StoreError) -> Void = Self.synchronize
  ) throws(StoreError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(file)")
    }
    guard status.st_size == 0 else { return }
    var place = URL(fileURLWithPath: file).resolvingSymlinksInPath()
    while place.path != "/" {
      place.deleteLastPathComponent()
      try synchronize(place.path)
    }
  }

  /// Makes the names in a directory durable, where the file system can do that and lets us.
  static func synchronize(_ directory: String) throws(StoreError) {
    let descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A directory above may be one that others only let us pass through.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) != 0, [EIO, ENOSPC, EDQUOT].contains(errno) else { return }
    throw StoreError(systemCode: errno, "cannot write \(directory)")
  }

  /// Whether there is a database.
  var hasDatabase: Bool { access(database, F_OK) == 0 }
}
