import DurableFiles
import Foundation
import RealtimeCore

/// The paths of the data, the socket and the logs, by the rules of the XDG base directories.
package struct ProgramPaths: Sendable {
  let data: String
  let socket: String
  /// The directory of the program's own state: logs, drafts, unsent writes.
  let state: String
  /// Whether the server stores nothing.
  let isEphemeral: Bool
  /// Whether `--data-dir` names the data.
  private let isNamed: Bool
  /// Whether `--socket` names the socket.
  private let namesSocket: Bool
  /// The value of `XDG_RUNTIME_DIR`, if it is set.
  private let runtime: String?
  /// The socket of the server that serves the data, if one was running and no other was chosen.
  private let running: String?

  /// Determines the paths from the values of `--data-dir` and `--socket`, if given.
  ///
  /// - Throws: ``CommandFailure`` when there is no home directory, or a path is empty.
  package init(
    dataDirectory: String?,
    socket: String?,
    isEphemeral: Bool,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(CommandFailure) {
    self.isEphemeral = isEphemeral
    if [dataDirectory, socket].contains("") { throw CommandFailure(.usage, "a path is empty") }
    let named = [dataDirectory, socket].compactMap(\.self)
    if let path = named.first(where: { !Self.full($0).hasPrefix("/") }) {
      throw CommandFailure(.usage, "\(path) is below a working directory that no longer exists")
    }
    func directory(_ variable: String, orElse fallback: String) throws(CommandFailure) -> String {
      if let path = Self.directory(variable, orElse: fallback, environment) { return path }
      throw CommandFailure(
        .usage,
        "there is no home directory: set HOME or \(variable), or choose a directory with --data-dir"
      )
    }
    let data: String
    if let dataDirectory {
      data = Self.absolute(dataDirectory)
      state = data
    } else {
      data = Self.absolute(try directory("XDG_DATA_HOME", orElse: ".local/share"))
      state = try directory("XDG_STATE_HOME", orElse: ".local/state")
    }
    // What is not UTF-8 in a variable has been replaced, which would name another directory.
    if let other = [data, state].first(where: { $0.contains("\u{FFFD}") }) {
      throw CommandFailure(
        .usage,
        "the path \(other) is not UTF-8 text; choose another directory with --data-dir"
      )
    }
    self.data = data
    isNamed = dataDirectory != nil
    namesSocket = socket != nil
    runtime = environment["XDG_RUNTIME_DIR"]
    running = isEphemeral || socket != nil ? nil : ServerRecord.socket(in: data)
    if let socket {
      self.socket = Self.absolute(socket)
      return
    }
    if let running {
      self.socket = running
      return
    }
    // Each data directory has its own server, so each has its own socket, whichever option or
    // variable names it.
    let kind = isEphemeral ? "ephemeral" : "hearth"
    let digest = SHA1.name(of: data)
    let name = data == Self.usersData ? "\(kind).sock" : "\(kind)-\(digest).sock"
    var places = ["\(data)/run/\(name)"]
    if let runtime = environment["XDG_RUNTIME_DIR"], Self.isOwnDirectory(runtime) {
      places.insert("\(runtime)/hearth/\(name)", at: 0)
    }
    if let place = places.first(where: { $0.utf8.count <= UnixSocketProbe.pathBytes }) {
      self.socket = place
      return
    }
    // Everyone may write to /tmp: the directory must be this user's before anything is found in it.
    let directory = "/tmp/hearth-\(geteuid())"
    try PrivateDirectory.prepare(directory)
    self.socket = "\(directory)/\(kind)-\(digest).sock"
  }

  /// Other sockets at which the database was reached, after which files are named: where earlier
  /// versions looked for it, and where its server is now.
  var formerSockets: [String] {
    let former = namedSockets
    return former + [running].compactMap(\.self).filter { !former.contains($0) }
  }

  private var namedSockets: [String] {
    let digest = SHA1.name(of: data)
    let runtimes = [runtime, "/run/user/\(geteuid())"].compactMap(\.self)
    let own = [data + "/run"] + Set(runtimes).sorted().map { $0 + "/hearth" }
    var sockets = (own + ["/tmp/hearth-\(geteuid())"]).map { "\($0)/hearth-\(digest).sock" }
    if isNamed { return sockets }
    sockets.append("\(data)/run/hearth.sock")
    // Elsewhere this name is that of the directory that is used without variables, if there is one.
    if let users = Self.usersData, users == data || access(users, F_OK) != 0 {
      sockets += own.dropFirst().map { "\($0)/hearth.sock" }
    }
    return sockets
  }

  /// The data directory of this user if no variable says otherwise; nil if the system does not know
  /// the user.
  private static var usersData: String? {
    guard let home = getpwuid(geteuid())?.pointee.pw_dir else { return nil }
    return absolute(String(cString: home) + "/.local/share/hearth")
  }

  /// Whether a path is absolute and a directory of this user; a variable may come from another
  /// user's shell.
  private static func isOwnDirectory(_ path: String) -> Bool {
    var information = stat()
    guard path.hasPrefix("/"), stat(path, &information) == 0 else { return false }
    return information.st_mode & S_IFMT == S_IFDIR && information.st_uid == geteuid()
  }

  /// The process that serves the data; nil if none does.
  ///
  /// A server that has just lost its socket is found by the lock on its data, but not by the name of
  /// another socket.
  var server: pid_t? {
    if case .process(let process) = UnixSocketProbe.look(at: socket) { return process }
    return isEphemeral ? nil : ServerRecord.holder(of: data, at: namesSocket ? socket : nil)
  }

  var socketDirectory: String { FilePath.directory(of: socket) }

  /// The log of the server that the first terminal starts.
  var log: String { "\(state)/server.log" }

  var ownLog: String { "\(state)/hearth.log" }

  /// This program's directory in the one that a variable names, or else in the home directory; nil
  /// if there is neither.
  static func directory(
    _ variable: String,
    orElse fallback: String,
    _ environment: [String: String]
  ) -> String? {
    // By the specification, a relative path is invalid and is ignored.
    if let path = environment[variable], path.hasPrefix("/") { return "\(path)/hearth" }
    guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
    return "\(home)/\(fallback)/hearth"
  }

  /// The full path of a file that the user has named; `~` stands for `HOME`, as in a shell.
  ///
  /// A relative path stays so in a working directory that has been removed.
  static func full(
    _ path: String,
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String {
    var expanded = (path as NSString).expandingTildeInPath
    if path == "~" || path.hasPrefix("~/"), let home = environment["HOME"], home.hasPrefix("/") {
      expanded = home + path.dropFirst()
    }
    let directory = FileManager.default.currentDirectoryPath
    return expanded.hasPrefix("/") || directory.isEmpty ? expanded : directory + "/" + expanded
  }

  private static func absolute(_ path: String) -> String {
    (full(path) as NSString).standardizingPath
  }
}

/// The latest requests that rules refused, each in a file, for whoever asks which rule it was.
struct RefusedRequests: Sendable {
  private static let limit = 20

  private let directory: String

  init(_ paths: ProgramPaths) {
    directory = "\(paths.state)/refused"
  }

  /// Stores a request, and returns the path of the file; nil if it cannot be stored.
  ///
  /// The same request always gets the same file.
  @Sendable func keep(_ request: JSONValue) -> String? {
    let path = "\(directory)/\(SHA1.name(of: request.text)).json"
    do {
      try PrivateDirectory.prepare(directory)
      try PrivateFile.replace(path, with: Array(request.text.utf8), isDurable: false)
    } catch {
      return nil
    }
    removeOldest()
    return path
  }

  private func removeOldest() {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    guard files.count > Self.limit else { return }
    let dated = files.map { file -> (path: String, date: Date) in
      let path = "\(directory)/\(file)"
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      return (path, attributes?[.modificationDate] as? Date ?? .distantPast)
    }
    for old in dated.sorted(by: { $0.date < $1.date }).dropLast(Self.limit) { unlink(old.path) }
  }
}

/// A file in the data directory that records which process serves the data at which socket.
///
/// The path of the socket depends on the environment, which may differ between two shells of one
/// user (`XDG_RUNTIME_DIR` may be set in only one of them); the path of the data does not.
enum ServerRecord {
  /// Records the socket of the server in this process.
  static func write(socket: String, in directory: String) {
    let json = JSONValue.object(
      ("pid", .integer(Int64(getpid()))),
      ("socket", .string(socket)),
      ("inode", .integer(inode(of: directory)))
    )
    try? PrivateFile.replace(path(directory), with: Array(json.text.utf8), isDurable: false)
  }

  static func remove(from directory: String) {
    unlink(path(directory))
  }

  /// The socket of the server that serves a directory; nil if none is running.
  static func socket(in directory: String) -> String? {
    guard let bytes = try? PrivateFile.read(path(directory)),
      let json = try? JSONParser.parse(bytes),
      let socket = json["socket"]?.string, let process = json["pid"]?.integer,
      json["inode"]?.integer == inode(of: directory),
      UnixSocketProbe.look(at: socket) == .process(pid_t(truncatingIfNeeded: process))
    else { return nil }
    return socket
  }

  /// The recorded process, if it holds the lock on the directory and serves the socket, which is nil
  /// for any; nil otherwise.
  static func holder(of directory: String, at socket: String?) -> pid_t? {
    guard let bytes = try? PrivateFile.read(path(directory)),
      let json = try? JSONParser.parse(bytes), let process = json["pid"]?.integer,
      socket == nil || json["socket"]?.string == socket,
      let holder = Storage.holder(of: directory), Int64(holder) == process
    else { return nil }
    return holder
  }

  private static func path(_ directory: String) -> String { "\(directory)/server" }

  /// The number by which a directory differs from its copies, which have the same record.
  private static func inode(of directory: String) -> Int64 {
    var status = stat()
    return stat(directory, &status) == 0 ? Int64(truncatingIfNeeded: status.st_ino) : 0
  }
}
