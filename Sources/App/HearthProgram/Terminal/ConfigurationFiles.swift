import BlogTUI
import Dispatch
import DurableFiles
import Foundation
import NIOConcurrencyHelpers
import RealtimeDatabase

/// The user's configuration file and themes, found by the rules of the XDG base directories.
struct ConfigurationFiles {
  /// The configuration file, whether it exists or not.
  let path: String
  /// The directory of the user's themes.
  let themes: String
  /// The settings given on the command line.
  let options: [(setting: Setting, value: String, option: String)]
  /// Whether the user has named the file.
  private let isNamed: Bool
  private let environment: [String: String]

  init(
    path: String?,
    options: [(setting: Setting, value: String, option: String)] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    let directory = ProgramPaths.directory("XDG_CONFIG_HOME", orElse: ".config", environment)
    isNamed = path != nil
    self.path = path ?? "\(directory ?? "//.config/hearth")/config.toml"
    themes = FilePath.directory(of: self.path) + "/themes"
    self.options = options
    self.environment = environment
  }

  /// The name of the file in problem reports.
  private var source: String { FilePath.name(of: path) }

  /// What came through pipes, which can be read only once, by path.
  private static let piped = NIOLockedValueBox<[String: [UInt8]]>([:])

  /// Ensures that a file which the user has named can be read.
  func check() throws(CommandFailure) {
    guard isNamed else { return }
    var reason = "there is no such file"
    do throws(FileFailure) {
      if try bytes() != nil { return }
    } catch {
      reason = error.reason
    }
    throw CommandFailure(.usage, "the configuration \(path) cannot be read: \(reason)")
  }

  /// Reads the configuration file, the themes, the environment and the options.
  func read() -> Configuration {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: themes)) ?? []
    var problems: [ConfigurationProblem] = []
    func content(of source: String, _ read: () throws(FileFailure) -> [UInt8]?) -> String? {
      do throws(FileFailure) {
        return try read().map { String(decoding: $0, as: UTF8.self) }
      } catch {
        let reason = "it cannot be read: \(error.reason)"
        problems.append(ConfigurationProblem(source: source, line: nil, reason: reason))
        return nil
      }
    }
    let text = content(of: source, bytes)
    let files = names.sorted().filter { $0.hasSuffix(".toml") }.compactMap { name in
      content(of: name) { () throws(FileFailure) in
        try PrivateFile.read("\(themes)/\(name)", atMost: InputFile.settingsLimit)
      }
      .map { (name: String(name.dropLast(5)), source: name, text: $0) }
    }
    var reader = ConfigurationReader(text: text, source: source, themes: files)
    reader.read(environment: environment)
    for option in options { reader.read(option.value, for: option.setting, option: option.option) }
    var configuration = reader.result
    configuration.problems = problems + configuration.problems
    return configuration
  }

  /// Stores a value in the file; the rest of the file is left unchanged.
  ///
  /// A file that cannot be read as text is left alone.
  func keep(_ value: SettingValue, for setting: Setting) -> Result<Void, EnvironmentError> {
    do {
      guard Self.piped.withLockedValue({ $0[path] }) == nil else {
        throw CommandFailure(.usage, "\(path) is a pipe")
      }
      try PrivateDirectory.create(FilePath.directory(of: path))
      // No other process changes the file from here on.
      let file = try OutputFile(path, isSetting: true)
      guard let text = String(validating: try bytes() ?? [], as: UTF8.self) else {
        throw CommandFailure(.usage, "\(path) is not UTF-8 text")
      }
      guard let changed = ConfigurationText.setting(setting, to: value, in: text) else {
        throw CommandFailure(.usage, "\(path) has it in a form that only an editor can change")
      }
      try file.write(changed)
      try file.finish()
      return .success(())
    } catch {
      let reason = CommandFailure(error).description
      return .failure(EnvironmentError("The setting was not saved: \(reason)."))
    }
  }

  /// The content of the file, or of a pipe that the user has named; nil if there is none.
  private func bytes() throws(FileFailure) -> [UInt8]? {
    var status = stat()
    guard isNamed, stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else {
      return try PrivateFile.read(path, atMost: InputFile.settingsLimit)
    }
    if let known = Self.piped.withLockedValue({ $0[path] }) { return known }
    let bytes = try PrivateFile.read(path, atMost: InputFile.settingsLimit, waits: true)
    Self.piped.withLockedValue { $0[path] = bytes }
    return bytes
  }
}

/// Reports when the configuration file or a theme may have changed; it causes no work until then.
///
/// Editors replace a file with another of the same name, so directories are watched instead of
/// files. What else happens in them, such as in a home directory, is ignored.
final class ConfigurationWatch {
  private static let changes = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE
  )

  private let source: any DispatchSourceRead

  /// Starts watching; nil if the system allows no more watches.
  ///
  /// A directory that does not exist yet is noticed when it is created, and so are the two above
  /// it. If the file is a symbolic link, the file that it leads to is watched as well. All files
  /// of the directory of themes matter. The block is called on a separate queue, some milliseconds
  /// after a burst of changes.
  init?(file: String, themes: String, block: @escaping @Sendable () -> Void) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    let queue = DispatchQueue(label: "hearth.configuration")
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
    var watched = Watched(descriptor: descriptor, file: file, themes: themes)
    source.setEventHandler {
      guard watched.readChanges() else { return }
      usleep(20_000)
      _ = watched.readChanges()
      // What has been created or replaced is watched from this point on.
      watched = Watched(descriptor: descriptor, file: file, themes: themes)
      block()
    }
    source.setCancelHandler { Foundation.close(descriptor) }
    source.resume()
  }

  deinit {
    source.cancel()
  }

  /// The directories that are watched, and the names that matter in them.
  private struct Watched {
    private let descriptor: Int32
    /// The names that matter by the number of the system's watch; nil if all do.
    private var names: [Int32: Set<String>?] = [:]

    init(descriptor: Int32, file: String, themes: String) {
      self.descriptor = descriptor
      let themes = URL(fileURLWithPath: themes)
      watch(themes.path, for: nil)
      watchDirectories(above: themes)
      let file = URL(fileURLWithPath: file)
      watchDirectories(above: file)
      watchDirectories(above: file.resolvingSymlinksInPath())
    }

    private mutating func watchDirectories(above url: URL) {
      var url = url
      for _ in 0..<3 where url.path != "/" {
        let directory = url.deletingLastPathComponent()
        watch(directory.path, for: url.lastPathComponent)
        url = directory
      }
    }

    private mutating func watch(_ directory: String, for name: String?) {
      let number = inotify_add_watch(descriptor, directory, ConfigurationWatch.changes)
      guard number >= 0 else { return }
      guard let name, case let known? = names[number, default: []] else {
        names[number] = .some(nil)
        return
      }
      names[number] = known.union([name])
    }

    /// Reads the events that the system has; returns whether one of them matters.
    func readChanges() -> Bool {
      var matters = false
      let header = MemoryLayout<inotify_event>.size
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = Foundation.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return matters }
        var events = buffer[..<count]
        while events.count >= header {
          let event = events.withUnsafeBytes { $0.loadUnaligned(as: inotify_event.self) }
          let name = events.dropFirst(header).prefix(Int(event.len)).prefix { $0 != 0 }
          matters = matters || self.matters(String(decoding: name, as: UTF8.self), in: event)
          events = events.dropFirst(header + Int(event.len))
        }
      }
    }

    private func matters(_ name: String, in event: inotify_event) -> Bool {
      // The system has lost events.
      if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return true }
      guard let wanted = names[event.wd] else { return false }
      return wanted?.contains(name) ?? true
    }
  }
}

/// The contents of a bug report: versions, the terminal, paths and settings, but no secrets.
enum DebugInformation {
  /// Variables that affect how the program looks or where it stores files.
  private static let variables = [
    "TERM", "COLORTERM", "COLORFGBG", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "ESCDELAY", "TMUX",
    "STY", "SSH_TTY", "VISUAL", "EDITOR", "BROWSER", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
  ]

  static func lines(
    paths: ProgramPaths,
    files: ConfigurationFiles,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> [String] {
    let configuration = files.read()
    var lines = versions
    lines.append("terminal: \(isatty(STDOUT_FILENO) == 1 ? "yes" : "no")")
    lines += terminal(environment)
    lines.append("configuration: \(files.path)")
    lines.append("data: \(paths.data)")
    lines.append("state: \(paths.state)")
    for setting in Setting.allCases {
      let origin = configuration.settings.origin(of: setting)
      guard origin != .standard else { continue }
      lines.append("\(setting.rawValue): \(configuration.settings[setting]) (\(origin.text))")
    }
    lines += configuration.allProblems.map { "problem: \($0)" }
    return lines
  }

  static var versions: [String] {
    ["hearth \(SDKVersion.current)", "system: \(system)"]
      + (commit.map { ["commit: \($0), checked out where the program lies"] } ?? [])
  }

  /// The variables that are set.
  static func terminal(_ environment: [String: String]) -> [String] {
    variables.compactMap { name in
      // The values may reveal private names, such as those of sockets.
      environment[name].map { "\(name): \(name == "TMUX" || name == "SSH_TTY" ? "set" : $0)" }
    }
  }

  /// The commit of the working copy that contains the program; nil for an installed program.
  private static var commit: String? {
    func text(_ path: String) -> String? {
      FileManager.default.contents(atPath: path)
        .map { String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .newlines) }
    }
    guard var path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    else { return nil }
    while path != "/" {
      path = FilePath.directory(of: path)
      guard let head = text("\(path)/.git/HEAD") else { continue }
      let commit = head.hasPrefix("ref: ") ? text("\(path)/.git/\(head.dropFirst(5))") : head
      return commit.flatMap { $0.count >= 40 && $0.allSatisfy(\.isHexDigit) ? $0 : nil }
    }
    return nil
  }

  private static var system: String {
    var name = utsname()
    guard uname(&name) == 0 else { return "unknown" }
    return [text(&name.sysname), text(&name.release), text(&name.machine)].joined(separator: " ")
  }

  private static func text<Characters>(_ characters: inout Characters) -> String {
    withUnsafeBytes(of: &characters) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
