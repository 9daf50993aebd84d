import DurableFiles
import Foundation
import RealtimeCore

/// Files that only their owner may access; any others are refused.
enum SecretFiles {
  private static let maximumBytes = 1_024 * 1_024

  /// Checks that only this user can open a file or a directory.
  static func checkPrivate(_ path: String) throws(StoreError) {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      throw StoreError(systemCode: errno, "cannot read \(path)")
    }
    let kind = status.st_mode & S_IFMT
    guard kind == S_IFREG || kind == S_IFDIR else {
      throw StoreError(.notWritable, description: "\(path) is neither a file nor a directory")
    }
    guard status.st_uid == geteuid() else {
      throw StoreError(
        .notWritable,
        description: "\(path) belongs to another user (number \(status.st_uid))"
      )
    }
    guard status.st_mode & 0o077 == 0 else {
      throw StoreError(
        .notWritable,
        description:
          "others can use \(path) to sign in as anyone; run \"chmod go= \(path)\", and move the"
          + " file away if others may have read it"
      )
    }
  }

  /// Creates an empty file if there is none, durably, and checks its permissions.
  static func create(_ path: String) throws(StoreError) {
    try StoreError.translating(at: path) { try PrivateFile.create(path, followsLink: false) }
    try checkPrivate(path)
  }

  static func read(_ path: String) throws(StoreError) -> JSONValue? {
    var status = stat()
    if lstat(path, &status) != 0, errno == ENOENT { return nil }
    try checkPrivate(path)
    let bytes = try StoreError.translating(at: path) { try PrivateFile.read(path) }
    guard let bytes else { return nil }
    guard bytes.count <= maximumBytes, let json = try? JSONParser.parse(bytes) else {
      throw StoreError.damaged(path, because: "it is not JSON")
    }
    return json
  }

  /// Replaces a whole file durably: after a crash it has either the old content or the new.
  static func replace(_ path: String, with json: JSONValue) throws(StoreError) {
    let bytes = Array((json.text + "\n").utf8)
    try StoreError.translating(at: path) {
      try PrivateFile.replace(path, with: bytes, isDurable: true)
    }
  }
}
