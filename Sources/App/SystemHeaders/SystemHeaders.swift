import Foundation
import PackagePlugin

/// Checks for the headers of the required system libraries before anything is compiled.
///
/// The compiler would report only a missing file, and minutes later.
@main
struct SystemHeaders: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) -> [Command] {
    let environment = ProcessInfo.processInfo.environment
    let folders = ["CPATH", "C_INCLUDE_PATH"].compactMap { environment[$0] }
      .flatMap { $0.split(separator: ":").map(String.init) }
    for header in ["ncurses.h", "sqlite3.h", "openssl/evp.h"] {
      let isFound = (folders + ["/usr/include", "/usr/local/include"]).contains {
        FileManager.default.fileExists(atPath: "\($0)/\(header)")
      }
      if !isFound {
        Diagnostics.error(
          "\(header) is missing. On Debian:"
            + " sudo apt-get install libncursesw5-dev libsqlite3-dev libssl-dev"
        )
      }
    }
    return []
  }
}
