import ArgumentParser
import BlogModel
import RealtimeDatabase
import RealtimeTree

/// Adds the data of a file to the database.
struct Import: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add the data of a JSON file, all at once; what is there already stays.",
    discussion: """
      The file is an object like that of "hearth export". Each entry of it, such as a post, a \
      comment or a person, replaces the entry of the same place.
      """
  )

  @Argument(help: "The file; - reads stdin.", transform: DashedWord.restore)
  var file: String

  @Flag(help: "Replace everything in the database instead.")
  var replace = false

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let name = file == "-" ? "stdin" : file
    let json = try DatabasePath.json(try InputFile.bytes(file), from: name)
    guard let members = json.members else {
      throw CommandFailure(.usage, "\(name) must hold a JSON object")
    }
    let session = try BlogSession(options)
    defer { session.close() }
    let root = session.database.reference()
    if replace {
      try await root.setValue(json: json)
    } else {
      try await root.updateChildValues(json: .object(members.flatMap(Self.entries)))
    }
  }

  /// The entries of a member by path, or the member itself when it has none.
  private static func entries(_ member: JSONMember) -> [JSONMember] {
    // These two keep their entries a level deeper: by person, and by post.
    let isNested = member.name == "user-posts" || member.name == "post-comments"
    return isNested ? below(member).flatMap(below) : below(member)
  }

  private static func below(_ member: JSONMember) -> [JSONMember] {
    guard let members = member.value.members, !members.isEmpty,
      !members.contains(where: { $0.name.hasPrefix(".") })
    else { return [member] }
    return members.map { JSONMember("\(member.name)/\($0.name)", $0.value) }
  }
}
