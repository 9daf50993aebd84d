import ArgumentParser
import BlogTUI
import DurableFiles
import Foundation
import RealtimeCore

/// A remote database under a short name.
struct Profile: Equatable, Sendable {
  var name: String
  var database: String
  /// The API key of the project, which the hosted service requires.
  var apiKey: String?
  /// The PEM file of the certificate authorities to trust instead of the system's.
  var caFile: String?

  /// Whether a name can be typed and written without quotation marks.
  static func isValid(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 64 && !name.hasPrefix("-")
      && name.utf8.allSatisfy { $0.isAlphanumeric || "-_".utf8.contains($0) }
  }

  /// The rule of ``isValid(_:)`` in words.
  static let rule = "letters, digits, hyphens and underscores, at most 64"
}

extension Profile {
  /// The profile that `--profile` names; nil if the option was not given.
  ///
  /// - Throws: `ValidationError` when there is no such profile, or a URL was given as well.
  static func chosen(_ name: String?, beside database: String?) throws -> Profile? {
    guard let name else { return nil }
    guard database == nil else {
      throw ValidationError("--profile and --database each name a database; give one of them")
    }
    do throws(CommandFailure) {
      return try ProfileFile().profile(name)
    } catch {
      throw ValidationError(error.description)
    }
  }

  /// Why the profile that a command line names cannot be used; nil if it names none, or a usable one.
  ///
  /// The parser ends every failure of a check with one status, but a missing profile has its own.
  static func failure(in words: [String]) -> CommandFailure? {
    let words = words.prefix { $0 != "--" }
    let option = "--profile"
    let joined = words.last { $0.hasPrefix(option + "=") }?.dropFirst(option.count + 1)
    let separate = zip(words, words.dropFirst()).first { $0.0 == option }?.1
    guard let name = joined.map({ String($0) }) ?? separate else { return nil }
    do throws(CommandFailure) {
      _ = try ProfileFile().profile(name)
      return nil
    } catch {
      return error
    }
  }
}

/// The profiles of a person: a plain text file that can be edited by hand.
///
/// ```
/// # The blog of the team.
/// [team]
/// database = "https://blog.example.org"
/// api-key = "AIza…"
/// ca-file = "/home/ann/ca.pem"
/// ```
///
/// The format is TOML with a statement on each line. Changes touch only the lines of their profile;
/// all other lines are kept.
struct ProfileFile {
  let path: String

  /// The file in `$XDG_CONFIG_HOME/hearth`, or in `~/.config/hearth` if that is not set.
  ///
  /// - Throws: ``CommandFailure`` when there is no home directory.
  init(
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(CommandFailure) {
    let directory = ProgramPaths.directory("XDG_CONFIG_HOME", orElse: ".config", environment)
    guard let directory else {
      throw CommandFailure(.usage, "there is no home directory: set HOME or XDG_CONFIG_HOME")
    }
    path = "\(directory)/profiles.toml"
  }

  /// All profiles, in the order of the file.
  ///
  /// - Throws: ``CommandFailure`` with the line number of a mistake.
  func read() throws(CommandFailure) -> [Profile] {
    var profiles: [Profile] = []
    var name: String?
    var values: [String: String] = [:]
    func finish() throws(CommandFailure) {
      guard let name else { return }
      guard let database = values["database"] else {
        throw CommandFailure(.usage, "\(path): the profile \"\(name)\" has no database")
      }
      profiles.append(
        Profile(
          name: name,
          database: database,
          apiKey: values["api-key"],
          caFile: values["ca-file"]
        )
      )
    }
    for (number, line) in try lines().enumerated() {
      switch Self.parse(line) {
      case .nothing: continue
      case .table(let next):
        try finish()
        name = next
        values = [:]
      case .value(let key, let text) where name != nil: values[key] = text
      case .value, .mistake:
        throw CommandFailure(.usage, "\(path):\(number + 1): this is not a line of a profile")
      }
    }
    try finish()
    return profiles
  }

  /// The profile with this name.
  ///
  /// - Throws: ``CommandFailure`` when there is none; it lists the existing ones.
  func profile(_ name: String) throws(CommandFailure) -> Profile {
    let profiles = try read()
    if let profile = profiles.first(where: { $0.name == name }) { return profile }
    let names = profiles.map { "\"\($0.name)\"" }.joined(separator: ", ")
    throw CommandFailure(
      .notFound,
      "there is no profile \"\(name)\"; "
        + (names.isEmpty ? "\"hearth profile add\" makes one" : "there are \(names)")
    )
  }

  /// Appends a profile.
  ///
  /// - Throws: ``CommandFailure`` when its name is taken, or the file cannot be written.
  func add(_ profile: Profile) throws(CommandFailure) {
    let file = try output()
    guard try !read().contains(where: { $0.name == profile.name }) else {
      throw CommandFailure(.conflict, "the profile \"\(profile.name)\" already exists")
    }
    var lines = try lines()
    if let last = lines.last, !last.isEmpty { lines.append("") }
    lines += ["[\(profile.name)]", "database = \(TOMLString.quoted(profile.database))"]
    if let key = profile.apiKey { lines.append("api-key = \(TOMLString.quoted(key))") }
    if let file = profile.caFile { lines.append("ca-file = \(TOMLString.quoted(file))") }
    try write(lines, to: file)
  }

  /// Removes a profile and its lines.
  ///
  /// - Throws: ``CommandFailure`` when there is none, or the file cannot be written.
  func remove(_ name: String) throws(CommandFailure) {
    _ = try profile(name)
    let file = try output()
    var kept: [String] = []
    var isRemoved = false
    for line in try lines() {
      if case .table(let table) = Self.parse(line) { isRemoved = table == name }
      if !isRemoved { kept.append(line) }
    }
    try write(kept, to: file)
  }

  // MARK: The text

  private enum Line {
    case nothing
    case table(String)
    case value(String, String)
    case mistake
  }

  private static func parse(_ line: String) -> Line {
    let document = TOMLDocument(line)
    guard document.faults.isEmpty else { return .mistake }
    if let entry = document.entries.first {
      guard let value = entry.value else { return .mistake }
      return .value((entry.table + [entry.key]).joined(separator: "."), value)
    }
    guard let name = document.table.first else { return .nothing }
    return document.table.count == 1 && Profile.isValid(name) ? .table(name) : .mistake
  }

  private func lines() throws(CommandFailure) -> [String] {
    var bytes: [UInt8] = []
    do throws(FileFailure) {
      bytes = try PrivateFile.read(path, atMost: InputFile.settingsLimit) ?? []
    } catch {
      throw CommandFailure(.usage, "the file \(path) cannot be read: \(error.reason)")
    }
    guard let text = String(validating: bytes.withoutByteOrderMark, as: UTF8.self) else {
      throw CommandFailure(.usage, "the file \(path) is not UTF-8 text")
    }
    // A line feed after a carriage return is not a character of its own.
    var lines = text.replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last == "" { lines.removeLast() }
    return lines
  }

  /// The file that replaces this one; no other process changes it from here on.
  private func output() throws(CommandFailure) -> OutputFile {
    try? PrivateDirectory.create(FilePath.directory(of: path))
    return try OutputFile(path, isSetting: true)
  }

  private func write(_ lines: [String], to file: OutputFile) throws(CommandFailure) {
    try file.write(lines.map { $0 + "\n" }.joined())
    try file.finish()
  }
}
