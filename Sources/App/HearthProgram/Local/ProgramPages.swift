import Dispatch
import Foundation

/// The pages of code that the system has mapped for this process.
///
/// A program that has just started has touched the code of its whole start (options, configuration,
/// the dynamic linker's work, the tables of Unicode), and the system maps the neighbours of every
/// page as well. Most of it is never run again, and counts as resident until the program ends.
enum ProgramPages {
  /// Gives the pages of code back once the start is over.
  ///
  /// Code is never changed, so that nothing is lost: what runs again is mapped again from the
  /// system's cache of files, without reading the disk.
  ///
  /// - Parameter delay: How many seconds the start may take.
  static func release(after delay: Double) {
    DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + delay) {
      guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else {
        return
      }
      for range in code(in: maps) {
        madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      }
    }
  }

  /// The addresses of code that comes from files, by the system's list of mappings.
  ///
  /// Only what may be run and not written: what is to be changed for this process lies elsewhere.
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
