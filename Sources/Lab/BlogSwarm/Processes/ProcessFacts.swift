package import Foundation

/// What the system tells of a process.
package struct ProcessFacts: Hashable, Sendable {
  /// The memory that it holds, in bytes.
  package let residentBytes: Int64
  /// How many files and sockets it has open.
  package let descriptors: Int64

  /// Asks the system; nil when there is no such process.
  package init?(of process: pid_t) {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8),
      let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int64($0) }),
      let files = try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
    else { return nil }
    residentBytes = pages * Int64(sysconf(Int32(_SC_PAGESIZE)))
    descriptors = Int64(files.count)
  }
}
