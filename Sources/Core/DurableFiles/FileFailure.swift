internal import Foundation

/// What the system would not do with a file or a directory.
package struct FileFailure: Error, Equatable {
  /// The number of the system's error, as in `errno`.
  package let code: CInt
  /// What was tried, with the path: "cannot open /a/b".
  package let action: String

  /// Makes a failure of what was tried.
  ///
  /// - Parameters:
  ///   - code: The number of the system's error.
  ///   - action: What was tried, with the path.
  package init(_ code: CInt, _ action: String) {
    self.code = code
    self.action = action
  }

  /// The system's words for the error.
  package var reason: String { String(cString: strerror(code)) }
}
