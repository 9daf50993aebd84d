import Dispatch
import Foundation
import RealtimeServer

/// The pages of code and constants that the system has mapped for this process.
///
/// During its start, a program touches a lot of code (options, configuration, the dynamic linker,
/// the Unicode tables), and the system maps the neighbours of every page as well. Most of it never
/// runs again, but stays resident until the program ends.
enum ProgramPages {
  /// How many seconds a program takes to start: to show its first lists, or to serve its first
  /// clients.
  private static let startTime = 3.0

  /// Releases the pages, and the memory that only the start used, once the program has started.
  ///
  /// What is released never changes, so nothing is lost: a page that is used again is mapped again
  /// from the system's page cache, without reading the disk.
  static func releaseOnceStarted() {
    DispatchQueue.hearthBackground.asyncAfter(deadline: .now() + startTime) {
      ResidentMemory.giveBack()
      // The list comes in pieces, and Foundation takes the first one for the whole.
      guard let mappings = try? InputFile.bytes("/proc/self/smaps") else { return }
      for range in constants(in: String(decoding: mappings, as: UTF8.self)) {
        madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
      }
    }
  }

  /// The address ranges of programs and libraries that this process has mapped and never changed.
  ///
  /// Mappings with anonymous pages are not included: a library's tables of addresses, for example,
  /// look constant once they are filled in, but the file does not have them. Nor are other files,
  /// which may be unmapped at any moment, so that their addresses are used for something else.
  static func constants(in mappings: String) -> [Range<UInt>] {
    var constants: [(file: Substring, range: Range<UInt>)] = []
    var programs: Set<Substring> = []
    var current: (file: Substring, range: Range<UInt>)?
    for line in mappings.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 5)
      if words.first == "Anonymous:" {
        if words.dropFirst().first == "0", let current { constants.append(current) }
      } else if words.first?.hasSuffix(":") == false {
        current = nil
        guard words.count == 6, words[5].contains("/") else { continue }
        if words[1] == "r-xp" { programs.insert(words[5]) }
        let bounds = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ["r-xp", "r--p"].contains(words[1]), bounds.count == 2, bounds[0] < bounds[1] else {
          continue
        }
        current = (words[5], bounds[0]..<bounds[1])
      }
    }
    return constants.compactMap { programs.contains($0.file) ? $0.range : nil }
  }
}
