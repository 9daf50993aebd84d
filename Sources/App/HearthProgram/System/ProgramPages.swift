import Dispatch
import Foundation

/// The code pages that the system has mapped for this process.
///
/// During its start, a program touches a lot of code (options, configuration, the dynamic linker,
/// the Unicode tables), and the system maps the neighbours of every page as well. Most of it never
/// runs again, but stays resident until the program ends.
enum ProgramPages {
  /// How many seconds a program takes to start: to show its first lists, or to serve its first
  /// clients.
  private static let startTime = 3.0

  /// Releases the code pages once the program has started.
  ///
  /// Code never changes, so nothing is lost: a page that is used again is mapped again from the
  /// system's page cache, without reading the disk.
  static func releaseOnceStarted() {
    DispatchQueue.hearthBackground.asyncAfter(deadline: .now() + startTime) {
      guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
        return
      }
      for range in code(in: maps) {
        madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      }
    }
  }

  /// The address ranges of code mapped from files, in the system's list of mappings.
  ///
  /// Only mappings that are executable and not writable are included; data that this process
  /// modifies lies elsewhere.
  static func code(in maps: String) -> [Range<UInt>] {
    maps.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[1] == "r-xp", words[5].contains("/") else { return nil }
      let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      guard bounds.count == 2, bounds[0] < bounds[1] else { return nil }
      return bounds[0]..<bounds[1]
    }
  }
}
