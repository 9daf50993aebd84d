import BlogTUI
import Foundation

/// The configuration file and the themes of the user, found by the rules of the XDG directories.
struct ConfigurationFiles {
  /// The configuration file, whether it exists or not.
  let path: String
  /// The directory of the user's themes.
  let themes: String
  /// What options of the command line say.
  let options: [(setting: Setting, value: String, option: String)]
  private let environment: [String: String]

  /// Finds the files.
  ///
  /// - Parameters:
  ///   - path: What `--config` says, if anything.
  ///   - options: What options of the command line say.
  ///   - environment: The variables of the process.
  init(
    path: String?,
    options: [(setting: Setting, value: String, option: String)] = [],
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    let directory = Self.directory(environment)
    self.path = path ?? "\(directory)/config.toml"
    themes = ((self.path as NSString).deletingLastPathComponent as NSString)
      .appendingPathComponent("themes")
    self.options = options
    self.environment = environment
  }

  /// The directory of this program's configuration; a relative path counts as not set.
  private static func directory(_ environment: [String: String]) -> String {
    if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") { return path + "/hearth" }
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/"
    return home + "/.config/hearth"
  }

  /// The name that problems give the file.
  private var source: String { (path as NSString).lastPathComponent }

  /// Reads everything.
  func read() -> Configuration {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: themes)) ?? []
    let files = names.sorted().filter { $0.hasSuffix(".toml") }.compactMap { name in
      Self.text(of: "\(themes)/\(name)").map {
        ConfigurationReader.ThemeFile(name: String(name.dropLast(5)), source: name, text: $0)
      }
    }
    var reader = ConfigurationReader(text: Self.text(of: path), source: source, themes: files)
    reader.read(environment: environment)
    for option in options { reader.read(option.value, for: option.setting, option: option.option) }
    return reader.result
  }

  /// Keeps a value in the file; all else in it stays as it is.
  func keep(_ value: SettingValue, for setting: Setting) -> Result<Void, EnvironmentError> {
    let text = ConfigurationText.setting(setting, to: value, in: Self.text(of: path) ?? "")
    let directory = (path as NSString).deletingLastPathComponent
    do {
      try FileManager.default.createDirectory(
        atPath: directory,
        withIntermediateDirectories: true
      )
      // The file may be a link into a directory under version control: that stays a link.
      let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
      try Data(text.utf8).write(to: target, options: .atomic)
      return .success(())
    } catch {
      let reason = SystemReason.of(error)
      return .failure(EnvironmentError("It is not kept: \(path) cannot be written: \(reason)."))
    }
  }

  private static func text(of path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }
}
