import Foundation

/// The processes of a demonstration, without the one that looks and the guard.
struct DemoProcesses {
  /// Those that serve the database.
  private var servers: [pid_t] = []
  /// All others.
  private var others: [pid_t] = []

  /// Finds the processes that name the directory of a place, or have it from their parents.
  init(of place: DemoPlace) {
    for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? [] {
      guard let process = pid_t(name), process != getpid(),
        let words = Self.texts("/proc/\(name)/cmdline"), !words.contains("--guard")
      else { continue }
      // Another user's variables cannot be read, and are of no concern.
      let variables = Self.texts("/proc/\(name)/environ") ?? []
      guard (words + variables).contains(where: { $0.contains(place.directory) }) else { continue }
      if words.dropFirst().first == "serve" {
        servers.append(process)
      } else {
        others.append(process)
      }
    }
  }

  /// Whether there is none.
  var isEmpty: Bool { servers.isEmpty && others.isEmpty }

  /// Those to end next: no server as long as there is somebody who would start it again.
  var next: [pid_t] { others.isEmpty ? servers : others }

  /// The texts of a file of the system; nil when it cannot be read, or the process is gone.
  private static func texts(_ path: String) -> [String]? {
    guard let data = FileManager.default.contents(atPath: path), !data.isEmpty else { return nil }
    return data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }
}
