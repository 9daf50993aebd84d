/// A report of a problem: sections of text for people, and at the end a recording.
///
/// The lines of sections are indented and harmless, so that nothing in them looks like a heading or
/// reaches the terminal of whoever reads the report.
package struct Report {
  private static let heading = "hearth report 1\n"
  private static let lastHeading = "\n== recording ==\n"
  package private(set) var text = heading

  package init() {}

  package mutating func add(_ title: String, _ content: String) {
    text += "\n== \(title) ==\n"
    for line in content.split(separator: "\n", omittingEmptySubsequences: false) {
      text += "  " + SafeText(untrusted: String(line), limit: .max).string + "\n"
    }
  }

  /// Adds the lines of a recording, which must be the last section.
  package mutating func end(withRecording lines: String) {
    text += Self.lastHeading + lines
  }

  /// The recording in a report, and the number of lines before it; nil if the file is not a report.
  ///
  /// - Throws: ``RecordingError`` if the report has no recording.
  static func recording(
    in bytes: [UInt8]
  ) throws(RecordingError) -> (lines: [UInt8], lineOffset: Int)? {
    guard bytes.starts(with: heading.utf8) else { return nil }
    guard let heading = bytes.firstRange(of: Array(lastHeading.utf8)) else {
      let reason = "this report has no recording; :report in the app adds one"
      throw RecordingError(line: 1, reason: reason)
    }
    let before = bytes[..<heading.upperBound]
    return (Array(bytes[heading.upperBound...]), before.count { $0 == UInt8(ascii: "\n") })
  }
}
