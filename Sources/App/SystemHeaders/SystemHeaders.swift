import Foundation
import PackagePlugin

/// Looks for the headers of the libraries that the system must have, before anything is compiled.
///
/// The compiler would say only, and minutes later, what it did not find.
@main
struct SystemHeaders: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
    let environment = ProcessInfo.processInfo.environment
    let folders = ["CPATH", "C_INCLUDE_PATH"].compactMap { environment[$0] }
      .flatMap { $0.split(separator: ":").map(String.init) }
    for header in ["ncurses.h", "sqlite3.h"] {
      let isFound = (folders + ["/usr/include", "/usr/local/include"]).contains {
        FileManager.default.fileExists(atPath: "\($0)/\(header)")
      }
      if !isFound {
        Diagnostics.error(
          "\(header) is missing. On Debian: sudo apt-get install libncursesw5-dev libsqlite3-dev"
        )
      }
    }
    return []
  }
}
