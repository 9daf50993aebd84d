import BlogTUI
import Foundation

extension Surroundings {
  /// The surroundings of a program that runs on a terminal of a person.
  ///
  /// - Parameters:
  ///   - places: Where things are.
  ///   - files: The configuration.
  ///   - drafts: Where texts are kept.
  ///   - history: Where commands are kept.
  /// - Returns: The surroundings, without the wire, which belongs to a database.
  static func system(
    _ places: Places,
    files: ConfigurationFiles,
    drafts: DraftFile,
    history: CommandHistory
  ) -> Surroundings {
    var surroundings = Surroundings()
    let editor = ExternalEditor(directory: places.state)
    surroundings.keep = { drafts.save($0, isDurable: false) }
    surroundings.edit = { editor.edit($0) }
    surroundings.openLink = { Browser.open($0) }
    surroundings.keepHistory = { history.save($0) }
    surroundings.keepSetting = { files.keep($1, for: $0) }
    surroundings.write = { text, name in TextFile.write(text, to: name) }
    return surroundings
  }
}

/// Files that the user names on the screen.
enum TextFile {
  /// Writes a text to a file, as a whole or not at all, and tells its full path.
  static func write(_ text: String, to name: String) -> Result<String, SurroundingsError> {
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
      return .failure(SurroundingsError("\(CommandFailure(error).description)."))
    }
  }
}
