import BlogTUI
import Foundation

extension Environment {
  /// The environment of a program that runs on a terminal of a person.
  ///
  /// - Parameters:
  ///   - places: Where things are.
  ///   - files: The configuration.
  ///   - drafts: Where texts are kept.
  ///   - history: Where commands are kept.
  /// - Returns: The environment, without the wire, which belongs to a database.
  static func system(
    _ places: Places,
    files: ConfigurationFiles,
    drafts: DraftFile,
    history: CommandHistory
  ) -> Environment {
    var environment = Environment()
    let editor = ExternalEditor(directory: places.state)
    environment.keep = { drafts.save($0, isDurable: false) }
    environment.edit = { editor.edit($0) }
    environment.openLink = { Browser.open($0) }
    environment.keepHistory = { history.save($0) }
    environment.keepSetting = { files.keep($1, for: $0) }
    environment.write = { text, name in TextFile.write(text, to: name) }
    return environment
  }
}

/// Files that the user names on the screen.
enum TextFile {
  /// Writes a text to a file, as a whole or not at all, and tells its full path.
  static func write(_ text: String, to name: String) -> Result<String, EnvironmentError> {
    let expanded = (name as NSString).expandingTildeInPath
    let path =
      expanded.hasPrefix("/")
      ? expanded : FileManager.default.currentDirectoryPath + "/" + expanded
    do {
      let file = try OutputFile(path)
      try file.write(text)
      try file.finish()
      return .success(path)
    } catch {
      return .failure(EnvironmentError("\(CommandFailure(error).description)."))
    }
  }
}
