import ArgumentParser
import BlogModel
import RealtimeCore
import RealtimeDatabase

/// Prints a post with its comments.
struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Print a post and its comments.")

  @Argument(help: "The id of the post.", transform: DashedWord.restore)
  var id: String

  @OptionGroup var options: CommonOptions

  func run() async throws {
    let session = try BlogSession(options)
    let post = try await session.blog.post(id)
    let comments = try await session.blog.comments(on: id)
    if options.json {
      guard case .object(var members) = post.json else { return }
      members.append(JSONMember("comments", .array(comments.map(\.json))))
      Output.line(.object(members))
      return
    }
    var names = NameBook()
    let people = [Author(uid: post.uid, name: post.author)]
    for person in people + comments.map({ Author(uid: $0.uid, name: $0.author) }) {
      names.learn(person)
    }
    let now = session.database.serverTime
    let age = post.createdAt.map { AgeText.of(now - $0) } ?? "-"
    Output.line(untrusted: post.title)
    let owner = names.shown(Author(uid: post.uid, name: post.author))
    Output.line(untrusted: "\(owner), \(age), \(post.starCount) stars")
    Output.line("")
    Output.lines(untrusted: post.body, indent: "  ")
    for comment in comments {
      let age = comment.createdAt.map { AgeText.of(now - $0) } ?? "-"
      Output.line("")
      let name = names.shown(Author(uid: comment.uid, name: comment.author))
      Output.line(untrusted: "\(comment.id)  \(name), \(age)")
      Output.lines(untrusted: comment.text, indent: "  ")
    }
  }
}
