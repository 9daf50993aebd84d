import DurableFiles
import Foundation
import RealtimeCore

/// A note beside the data of who serves them and where, for those who would look elsewhere.
///
/// The place of the socket depends on the environment, which may differ between two shells of one
/// person (`XDG_RUNTIME_DIR` is set in one and not in the other); the data are the same.
enum ServerRecord {
  /// Notes where the server of this process can be reached.
  static func write(socket: String, in directory: String) {
    let json = JSONValue.object(("pid", .integer(Int64(getpid()))), ("socket", .string(socket)))
    try? PrivateFile.replace(path(directory), with: Array(json.text.utf8), isDurable: false)
  }

  /// Removes the note.
  static func remove(from directory: String) {
    unlink(path(directory))
  }

  /// The socket of the server that has a directory, or nil when none answers.
  static func socket(in directory: String) -> String? {
    guard let data = FileManager.default.contents(atPath: path(directory)),
      let json = try? JSONParser.parse(Array(data)),
      let socket = json["socket"]?.string, let process = json["pid"]?.integer,
      UnixSocketProbe.look(at: socket) == .process(pid_t(truncatingIfNeeded: process))
    else { return nil }
    return socket
  }

  private static func path(_ directory: String) -> String { "\(directory)/server" }
}
