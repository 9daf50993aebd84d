private import Foundation

/// Says how far somebody has read a log beside the server, so that the server keeps the rest.
///
/// It is a file with the number of a commit, of which the reader writes and the server reads.
package struct LogMark: Sendable {
  private let path: String

  /// Names the file, which need not exist yet.
  package init(path: String) {
    self.path = path
  }

  /// The last commit that has been read; 0 before the first.
  package var revision: Int64 {
    (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int64($0) } ?? 0
  }

  /// Says that everything up to a commit has been read.
  ///
  /// - Throws: What the system reports; then the server keeps more than it must.
  package func move(to revision: Int64) throws {
    try String(revision).write(toFile: path, atomically: true, encoding: .utf8)
  }
}
