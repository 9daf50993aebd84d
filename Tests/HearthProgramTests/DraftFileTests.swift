import BlogModel
import Foundation
import TestSupport
import Testing

@testable import BlogTUI
@testable import HearthProgram

@Suite("DraftFile and ExternalEditor")
struct DraftFileTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let post = Post(id: "p1", uid: "alice", author: "Alice", title: "T", body: "B")
  private static let comment = Comment(id: "c1", uid: "alice", author: "Alice", text: "t")

  private func files(_ directory: TemporaryDirectory, _ suffix: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directory.path)
      .filter { $0.hasSuffix(suffix) }.map { directory.path + "/" + $0 }
  }

  /// An editor that runs a shell command on its file, `$0`.
  private func editor(
    _ drafts: DraftFile,
    _ command: String,
    haste: Duration = .zero
  ) -> ExternalEditor {
    ExternalEditor(drafts: drafts, environment: ["EDITOR": "sh -c '\(command)'"], haste: haste)
  }

  @Test("A draft keeps its edited post or comment across runs")
  func edits() throws {
    let unsent = Unsent(
      posts: [Draft(title: "New", body: ""), Draft(title: "T", body: "B!", editing: Self.post)],
      comments: ["p1": ["plain", CommentDraft("t!", editing: Self.comment)]]
    )
    let first = DraftFile(directory: directory.path, uid: "alice")
    _ = first.load()
    #expect(first.save(unsent, isDurable: true) == nil)
    first.close()
    let loaded = DraftFile(directory: directory.path, uid: "alice").load()
    #expect(loaded.unsent == unsent && loaded.news.isEmpty && loaded.problem == nil)
  }

  @Test("A damaged draft file is set aside and reported", arguments: ["{\"posts\":[{", "{}", ""])
  func damaged(text: String) throws {
    let first = DraftFile(directory: directory.path, uid: "alice")
    _ = first.load()
    _ = first.save(Unsent(posts: [Draft(title: "T", body: "")]), isDurable: false)
    first.close()
    let path = try #require(try files(directory, ".json").first)
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    let loaded = DraftFile(directory: directory.path, uid: "alice").load()
    #expect(loaded.unsent.isEmpty)
    #expect(loaded.news.first?.contains(path + ".damaged") == true)
    #expect(FileManager.default.contents(atPath: path + ".damaged") == Data(text.utf8))
  }

  @Test("Files that the system cannot read now stay where they are")
  func unreadable() throws {
    let first = DraftFile(directory: directory.path, uid: "alice")
    _ = first.load()
    _ = first.save(Unsent(posts: [Draft(title: "T", body: "")]), isDurable: false)
    let path = try #require(try files(directory, ".json").first)
    first.close()
    let other = "\(path.dropLast("\(getpid()).json".count))1.json"
    // Even root cannot follow a link to itself.
    for link in [other, directory.file("history")] {
      #expect(symlink(link, link) == 0)
    }
    let loaded = DraftFile(directory: directory.path, uid: "alice").load()
    #expect(loaded.unsent.posts.map(\.title) == ["T"])
    #expect(loaded.news.count == 1 && loaded.news.first?.contains(other) == true)
    let history = CommandHistory(directory: directory.path)
    #expect(history.load().isEmpty)
    history.save(["new"])
    for link in [other, directory.file("history")] {
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == link)
    }
  }

  @Test("What an editor saved is kept if its draft is unknown")
  func unknownDraft() throws {
    let first = DraftFile(directory: directory.path, uid: "alice")
    let edited = try first.editorFile(for: Unsent(posts: [Draft(title: "T", body: "")]), text: "x")
    try Data("{".utf8).write(to: URL(fileURLWithPath: edited.path + ".draft"))
    let loaded = DraftFile(directory: directory.path, uid: "alice").load()
    #expect(loaded.news.first?.contains(edited.path + ".kept") == true)
    #expect(FileManager.default.contents(atPath: edited.path + ".kept") == Data("x".utf8))
  }

  @Test("A failed save of drafts is reported")
  func unwritable() throws {
    let file = directory.path + "/file"
    try Data().write(to: URL(fileURLWithPath: file))
    let drafts = DraftFile(directory: file, uid: "alice")
    let problem = drafts.save(Unsent(posts: [Draft(title: "T", body: "")]), isDurable: false)
    #expect(problem?.description.contains(file) == true)
  }

  @Test("An unchanged editor file changes nothing, and the file explains line 1")
  func unchanged() throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let draft = Draft(title: "", body: "\nfirst\n\nsecond\n")
    #expect(try editor(drafts, "grep -q \"Line 1 is the title\" $0").edit(draft).get() == draft)
    #expect(try editor(drafts, "true").edit("c", on: "p1").get() == "c")
    #expect(try files(directory, ".txt").isEmpty && files(directory, ".draft").isEmpty)
  }

  @Test("An editor that ends at once without a change is reported: it may go on in a window")
  func hasty() throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let draft = Draft(title: "T", body: "B")
    let result = editor(drafts, "true", haste: .seconds(600)).edit(draft)
    guard case .failure(let error) = result else { throw Unexpected("no failure") }
    #expect(error.description.hasPrefix("sh ended at once"))
    let changed = editor(drafts, "sed -i s/B/more/ $0", haste: .seconds(600)).edit(draft)
    #expect(try changed.get().body == "more")
  }

  @Test("A blank VISUAL is as good as none", arguments: ["", " ", "\t\n"])
  func blank(visual: String) throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let environment = ["VISUAL": visual, "EDITOR": "sh -c 'sed -i s/B/more/ $0'"]
    let editor = ExternalEditor(drafts: drafts, environment: environment, haste: .zero)
    #expect(try editor.edit(Draft(title: "T", body: "B")).get().body == "more")
  }

  @Test("The text saved by the editor becomes the draft, without the explanation")
  func changed() throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let draft = Draft(title: "T", body: "B", editing: Self.post)
    let edited = try editor(drafts, "sed -i s/B/more/ $0").edit(draft).get()
    #expect(edited == Draft(title: "T", body: "more", editing: Self.post))
    let all = try editor(drafts, "printf \"New\\n\\nText\\n\" > $0").edit(draft).get()
    #expect(all == Draft(title: "New", body: "Text", editing: Self.post))
    #expect(try files(directory, ".txt").isEmpty)
  }

  @Test(
    "The saved file is kept if the editor fails or its text is unreadable",
    arguments: [
      "exit 3", "kill -9 $$", "printf \"\\377\" > $0", "head -c 5000000 /dev/zero > $0",
      "rm $0; mkdir $0", "rm $0; mkfifo $0",
    ]
  )
  func badEnd(end: String) throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let result = editor(drafts, "sed -i s/B/more/ $0; \(end)").edit(Draft(title: "T", body: "B"))
    let path = try #require(try files(directory, ".txt").first)
    guard case .failure(let error) = result else { throw Unexpected("no failure") }
    #expect(error.description.contains(path))
    // A second edit gets a file of its own.
    _ = editor(drafts, "true").edit(Draft(title: "T", body: "B"))
    #expect(FileManager.default.fileExists(atPath: path))
  }

  @Test("An editor that leaves no file changes nothing, and this is reported")
  func noFile() throws {
    let drafts = DraftFile(directory: directory.path, uid: "alice")
    let result = editor(drafts, "rm $0").edit(Draft(title: "T", body: "B"))
    #expect(
      result == .failure(EnvironmentError("The editor left no file. The text is unchanged."))
    )
    #expect(try files(directory, ".draft").isEmpty)
  }

  @Test("After a kill, text saved by the editor is recovered as its draft")
  func offered() throws {
    let unsent = Unsent(
      posts: [Draft(title: "T", body: "B", editing: Self.post)],
      comments: ["p1": [CommentDraft("t!", editing: Self.comment)]]
    )
    let first = DraftFile(directory: directory.path, uid: "alice")
    _ = first.load()
    _ = first.save(unsent, isDurable: false)
    let parts = [Unsent(posts: unsent.posts), Unsent(comments: unsent.comments)]
    let text = EditorFile.text(of: unsent.posts[0])
    let edited = try first.editorFile(for: parts[0], text: text)
    try Data(text.replacing("B", with: "more").utf8).write(to: URL(fileURLWithPath: edited.path))
    let other = try first.editorFile(for: parts[1], text: "t!\n")
    try Data("t?\n".utf8).write(to: URL(fileURLWithPath: other.path))
    first.close()
    let loaded = DraftFile(directory: directory.path, uid: "alice").load()
    #expect(loaded.unsent.posts == [Draft(title: "T", body: "more", editing: Self.post)])
    #expect(loaded.unsent.comments == ["p1": [CommentDraft("t?", editing: Self.comment)]])
    #expect(loaded.news.count == 2)
    #expect(try files(directory, ".txt").isEmpty)
  }
}
