import Foundation

package enum InputFile {
  /// The most bytes that a file of settings may have: the configuration, a theme or the profiles.
  static let settingsLimit = 1_024 * 1_024

  /// The bytes of a file or a pipe, or of stdin for "-", without a byte order mark.
  ///
  /// There is a limit, since a device like /dev/zero never ends.
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  static func bytes(
    _ path: String,
    atMost limit: Int = 256 * 1_024 * 1_024
  ) throws(CommandFailure) -> [UInt8] {
    let source = try ByteSource(path)
    var bytes: [UInt8] = []
    while case let piece = try source.read(), !piece.isEmpty {
      guard bytes.count + piece.count <= limit else {
        throw CommandFailure(.usage, "\(source.name) is longer than \(limit) bytes")
      }
      bytes += piece
    }
    return Array(bytes.withoutByteOrderMark)
  }

  /// A text from the command line, or that of stdin for "-", with the line ends that a blog has.
  ///
  /// - Throws: ``CommandFailure`` when stdin is not text.
  static func text(orStandardInput word: String) throws(CommandFailure) -> String {
    let text = word == "-" ? try self.text("-") : word
    return text.replacing("\r\n", with: "\n")
  }

  /// The text of a file, or of stdin for "-", without a trailing newline.
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  package static func text(_ path: String) throws(CommandFailure) -> String {
    var bytes = try bytes(path)
    if bytes.last == UInt8(ascii: "\n") {
      bytes.removeLast()
      if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw CommandFailure(.usage, "\(path == "-" ? "stdin" : path) is not UTF-8 text")
    }
    return text
  }
}

extension Collection<UInt8> {
  /// The text without the byte order mark that Windows puts at its beginning.
  var withoutByteOrderMark: SubSequence {
    starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self[...]
  }
}

/// Reads a file or stdin piece by piece.
final class ByteSource {
  private static let pieceBytes = 64 * 1_024

  /// The name of the source in messages.
  let name: String
  private let descriptor: Int32
  /// Where the text begins; nil if it can be read only once.
  private let start: off_t?
  /// Whether such a text is kept, because ``restart()`` follows.
  private var isKept = false
  /// What has been read of such a text, and how much of that has been read again.
  private var kept: [[UInt8]] = []
  /// The number of bytes read so far, each counted once.
  private(set) var bytesRead: Int64 = 0
  private var position = 0
  private var isAtStart = true

  /// The number of bytes; nil if it is unknown before they are read.
  var size: Int64? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Int64(status.st_size)
  }

  /// Opens a file, or stdin for "-".
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  init(_ path: String) throws(CommandFailure) {
    name = path == "-" ? "stdin" : path
    descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    let start = descriptor < 0 ? -1 : lseek(descriptor, 0, SEEK_CUR)
    self.start = start < 0 ? nil : start
    guard descriptor >= 0 else { throw .unreadable(name, errno) }
  }

  deinit { close(descriptor) }

  /// The next bytes; empty at the end.
  func next() throws(CommandFailure) -> [UInt8] {
    guard position == kept.count else {
      position += 1
      return kept[position - 1]
    }
    let piece = try read()
    bytesRead += Int64(piece.count)
    if start == nil, isKept, !piece.isEmpty {
      kept.append(piece)
      position += 1
    }
    return piece
  }

  /// Lets what comes through a pipe be read twice; it is in memory until then.
  func keep() { isKept = true }

  func restart() throws(CommandFailure) {
    position = 0
    guard let start else { return }
    bytesRead = 0
    if lseek(descriptor, start, SEEK_SET) < 0 { throw .unreadable(name, errno) }
  }

  /// The next bytes, which are not kept; empty at the end.
  fileprivate func read() throws(CommandFailure) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    var count = Foundation.read(descriptor, &piece, piece.count)
    while count < 0, SharedStream.isRepeated(descriptor, for: POLLIN) {
      count = Foundation.read(descriptor, &piece, piece.count)
    }
    guard count >= 0 else { throw .unreadable(name, errno) }
    if isAtStart { try requireText(piece[..<count]) }
    isAtStart = false
    return Array(piece[..<count])
  }

  /// Says what to do with a file as Windows or a backup has it.
  private func requireText(_ beginning: ArraySlice<UInt8>) throws(CommandFailure) {
    if beginning.starts(with: [0x1F, 0x8B]) {
      throw CommandFailure(.usage, "\(name) is compressed; \"gunzip -c\" unpacks it")
    }
    if beginning.starts(with: [0xFF, 0xFE]) || beginning.starts(with: [0xFE, 0xFF]) {
      throw CommandFailure(.usage, "\(name) is UTF-16; \"iconv -f UTF-16 -t UTF-8\" converts it")
    }
  }
}

/// Reads the administrators' secret.
package enum AdministratorKeyFile {
  /// The secret in a file, without surrounding white space.
  ///
  /// - Throws: ``CommandFailure`` when the file cannot be read, or when others can read it as well.
  package static func secret(_ path: String) throws(CommandFailure) -> String {
    var status = stat()
    guard stat(path, &status) == 0 else { throw .unreadable(path, errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw CommandFailure(.usage, "\(path) is not a file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .usage,
        "others can use \(path) to become administrators; \"chmod 600\" it"
      )
    }
    return try InputFile.text(path).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}
