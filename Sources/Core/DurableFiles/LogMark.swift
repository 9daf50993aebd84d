private import Foundation

/// Records how far a reader outside the server has read the log, so that the server keeps the rest.
///
/// It is a file with the number of a commit. The reader writes it, and the server reads it.
package struct LogMark: Sendable {
  private let path: String

  /// Names the file, which need not exist yet.
  package init(path: String) {
    self.path = path
  }

  /// The number of the last commit that the reader has read; 0 before the first.
  package var revision: Int64 {
    (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int64($0) } ?? 0
  }

  /// Records that everything up to a commit has been read.
  ///
  /// - Throws: The error of the system; the server then keeps more of the log than it must.
  package func move(to revision: Int64) throws {
    try String(revision).write(toFile: path, atomically: true, encoding: .utf8)
  }
}
