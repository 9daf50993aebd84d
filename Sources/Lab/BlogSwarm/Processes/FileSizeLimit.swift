package import Foundation

/// Fills the disk of a process: it can make no file longer than a limit.
package enum FileSizeLimit {
  /// Sets or lifts the limit of a process of the same user.
  ///
  /// - Parameters:
  ///   - bytes: The limit, or nil for none.
  ///   - process: The process.
  /// - Returns: Whether the system did it.
  package static func set(_ bytes: UInt64?, of process: pid_t) -> Bool {
    // The hard limit stays, since only an administrator could lift it again.
    let limit = bytes.map { String($0) } ?? "unlimited"
    return Tool.output(of: ["prlimit", "--pid", "\(process)", "--fsize=\(limit):"]) != nil
  }

  /// The size of the longest file in a directory and below it.
  package static func longestFile(in directory: String) -> UInt64 {
    let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
    return (names ?? []).map { name in
      let facts = try? FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
      return (facts?[.size] as? NSNumber)?.uint64Value ?? 0
    }.max() ?? 0
  }
}
