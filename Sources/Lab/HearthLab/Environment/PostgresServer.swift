private import Foundation
private import NIOConcurrencyHelpers
private import NIOCore
private import NIOPosix

/// A private PostgreSQL server in a temporary directory, at a free port of 127.0.0.1.
///
/// A shell watches the server and stops it when this process ends, for whatever reason. The server
/// does not wait for the disk unless a setting says so, and trusts every client that reaches its
/// port.
package final class PostgresServer: Sendable {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// A running server, and the shell that watches it.
  private struct Running {
    /// Written to and closed to stop the server.
    let control: Int32
    let watcher: pid_t

    /// Ends the watch.
    ///
    /// It reaps the shell: a zombie keeps libraries that wait for any child from learning that other
    /// children have ended.
    func end() {
      close(control)
      Launch.wait(for: watcher)
    }
  }

  /// The directory with the programs of PostgreSQL 13 or later, or nil where it is not installed.
  ///
  /// The newest version in `/usr/lib/postgresql` is used, or else the one in `PATH`.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    let packaged = versions.compactMap { Int($0) }.filter { $0 >= 13 }.sorted(by: >)
    let others = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let places =
      packaged.map { "\(root)/\($0)/bin" } + others.split(separator: ":").map { String($0) }
    return places.first { place in
      ["postgres", "initdb", "psql"].allSatisfy { access("\(place)/\($0)", X_OK) == 0 }
    }
  }()

  /// The port of 127.0.0.1 that the server listens on.
  package let port: Int
  let directory: String
  /// The server, while it runs.
  private let running = NIOLockedValueBox<Running?>(nil)
  private let settings: [String]
  private static let count = NIOLockedValueBox(0)

  /// Creates and starts a server.
  ///
  /// - Parameters:
  ///   - settings: Settings such as `synchronous_commit=off`.
  ///   - parent: The directory on whose disk it stores its data; nil for the temporary directory.
  ///   - primary: The server that it is to be a standby of; nil for an independent server.
  /// - Throws: ``Failure`` when it does not start.
  package init(
    settings: [String] = [],
    in parent: String? = nil,
    standbyOf primary: PostgresServer? = nil
  ) throws {
    guard let programs = Self.programs else {
      throw Failure(
        description: "PostgreSQL is neither in /usr/lib/postgresql nor in PATH "
          + "(apt-get install postgresql)"
      )
    }
    let place = parent ?? FileManager.default.temporaryDirectory.path
    directory = "\(place)/pg-\(UUID().uuidString.prefix(8))"
    self.settings = settings
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    if geteuid() == 0, let user = getpwnam(Self.user) {
      guard chown(directory, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
        throw Failure(description: "cannot give \(directory) to \(Self.user)")
      }
    }
    do {
      if let primary {
        try Self.run([
          "\(programs)/pg_basebackup", "-D", "\(directory)/data", "-d", primary.url(of: "postgres"),
          "-R", "-X", "stream", "-c", "fast", "--no-sync",
        ])
      } else {
        try Self.run([
          "\(programs)/initdb", "-D", "\(directory)/data", "-U", "hearth", "--auth=trust",
          "--no-sync", "--no-locale", "-E", "UTF8",
        ])
      }
      // As late as possible: other programs take free ports, too.
      port = try Self.freePort()
      try start()
    } catch {
      try? FileManager.default.removeItem(atPath: directory)
      throw error
    }
  }

  deinit {
    if let running = running.withLockedValue(\.self) {
      running.end()
    } else {
      try? FileManager.default.removeItem(atPath: directory)
    }
  }

  // MARK: Databases

  /// The address of a database.
  package func url(of database: String) -> String {
    "postgres://hearth@127.0.0.1:\(port)/\(database)"
  }

  package func makeDatabase() throws -> String {
    let name = Self.count.withLockedValue { count in
      count += 1
      return "hearth\(getpid())_\(count)"
    }
    try sql("CREATE DATABASE \(name)", at: url(of: "postgres"))
    return url(of: name)
  }

  /// Runs statements as an administrator.
  ///
  /// - Returns: The rows, columns separated by `|`.
  /// - Throws: ``Failure`` with what `psql` says.
  @discardableResult
  package func sql(_ text: String, at url: String) throws -> String {
    try Self.run(
      [
        "\(Self.programs ?? "")/psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url,
        "-c", text,
      ]
    ).trimmingCharacters(in: .newlines)
  }

  // MARK: Starting and stopping

  /// Starts the server again, and returns when it is ready for use.
  package func start() throws {
    guard let programs = Self.programs else { return }
    var ends: [Int32] = [-1, -1]
    // Unlike a pipe, a socket pair can be created so that no other child inherits it.
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
      throw Failure(description: "there are no sockets")
    }
    let words =
      Self.asOwner + [
        "\(programs)/postgres", "-D", "\(directory)/data", "-p", "\(port)", "-h", "127.0.0.1",
        "-k", directory, "-c", "shared_buffers=32MB", "-c", "fsync=off", "-c", "max_connections=60",
        "-c", "wal_level=replica", "-c", "max_wal_senders=8",
      ] + settings.flatMap { ["-c", $0] }
    let watcher = try Launch.start(
      ["sh", "-c", Self.watch, "sh", directory] + words,
      input: ends[0],
      leadsGroup: true
    )
    close(ends[0])
    running.withLockedValue { $0 = Running(control: ends[1], watcher: watcher) }
    let deadline = ContinuousClock.now + .seconds(60)
    while (try? sql("SELECT 1", at: url(of: "postgres"))) == nil {
      guard ContinuousClock.now < deadline else {
        let log = (try? String(contentsOfFile: "\(directory)/log", encoding: .utf8)) ?? ""
        throw Failure(description: "PostgreSQL does not start: \(log.suffix(500))")
      }
      usleep(50_000)
    }
  }

  /// Stops the server, and returns when it has ended.
  package func stop(isCrash: Bool = false) {
    let ended = running.withLockedValue { running in
      defer { running = nil }
      return running
    }
    guard let ended else { return }
    let line = Array((isCrash ? "QUIT\n" : "INT\n").utf8)
    _ = line.withUnsafeBytes { write(ended.control, $0.baseAddress, $0.count) }
    while access("\(directory)/data/postmaster.pid", F_OK) == 0 { usleep(10_000) }
    ended.end()
  }

  package func promote() throws {
    try sql("SELECT pg_promote(true, 60)", at: url(of: "postgres"))
  }

  /// Runs PostgreSQL until a line names the signal that ends it; at the end of the input, which means
  /// that this program has ended, kills PostgreSQL and deletes its directory.
  private static let watch = """
    directory=$1; shift
    trap '' INT TERM HUP
    "$@" >>"$directory/log" 2>&1 </dev/null & main=$!
    if read -r name; then
      kill -"$name" $main; wait $main
    else
      kill -CONT $main; kill -QUIT $main; wait $main; rm -rf "$directory"
    fi
    """

  // MARK: Processes

  /// PostgreSQL does not run as root.
  private static let user = getpwnam("postgres") != nil ? "postgres" : "nobody"

  private static var asOwner: [String] {
    guard geteuid() == 0, let entry = getpwnam(user) else { return [] }
    let (uid, gid) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
    return ["setpriv", "--reuid=\(uid)", "--regid=\(gid)", "--clear-groups", "--"]
  }

  @discardableResult
  private static func run(_ words: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = asOwner + words
    process.currentDirectoryURL = URL(fileURLWithPath: "/")
    let output = Pipe()
    let errors = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let reason = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(description: String(decoding: reason, as: UTF8.self))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// A port of 127.0.0.1 that nothing listens on.
  ///
  /// - Throws: The system's error when there is none.
  package static func freePort() throws -> Int {
    let listener = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .bind(host: "127.0.0.1", port: 0).wait()
    let port = listener.localAddress?.port ?? 0
    try listener.close().wait()
    return port
  }
}
