import Foundation

/// Reads a file or stdin piece by piece.
final class ByteSource {
  private static let pieceBytes = 64 * 1_024

  /// What the source is called in messages.
  let name: String
  private let descriptor: Int32
  private var head: [[UInt8]] = []

  /// Opens a file, or stdin for "-".
  ///
  /// - Throws: ``CommandFailure`` that names the file and the reason.
  init(_ path: String) throws(CommandFailure) {
    name = path == "-" ? "stdin" : path
    descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(errno) }
  }

  deinit { close(descriptor) }

  /// Reads up to a number of bytes ahead; they are given again afterwards.
  ///
  /// - Returns: All bytes when there are no more than that, or nil.
  func wholeText(upTo limit: Int) throws(CommandFailure) -> [UInt8]? {
    var bytes: [UInt8] = []
    while bytes.count <= limit {
      let piece = try read()
      if piece.isEmpty { return bytes }
      head.append(piece)
      bytes += piece
    }
    return nil
  }

  /// The next bytes, and none at the end.
  func next() throws(CommandFailure) -> [UInt8] {
    head.isEmpty ? try read() : head.removeFirst()
  }

  private func read() throws(CommandFailure) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: Self.pieceBytes)
    var count = Foundation.read(descriptor, &piece, piece.count)
    while count < 0, errno == EINTR { count = Foundation.read(descriptor, &piece, piece.count) }
    guard count >= 0 else { throw failure(errno) }
    return Array(piece[..<count])
  }

  private func failure(_ code: Int32) -> CommandFailure {
    CommandFailure(.usage, "\(name) cannot be read: \(String(cString: strerror(code)))")
  }
}
