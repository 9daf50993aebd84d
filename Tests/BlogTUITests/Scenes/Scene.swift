import Foundation
import TestSupport
import Testing

/// What a user and others do, and what comes of it, from a file of `Goldens/Scenes`.
///
/// Lines before the first `## ` begin every scene of a file. The lines are done in order:
///
///     start loaded|opened|started|new|busy|noticed [WxH] [ascii]    instead of a list of posts
///     > jj Enter "some text" paste "a\nb"                keys, typed text and pastes
///     click ROW COLUMN, click TEXT, wheel up|down ROW COLUMN, size WxH, tick MILLISECONDS
///     feed LIST POSTS, post ID POST|gone, comments ID COMMENTS, failed ACTION, …    an event
///     start plain, say COMMAND                           line mode, whose lines are the fact printed
///     set NAME VALUE                                     a setting is changed
///     expect TEXT, refuse TEXT                           what the screen shows, and does not
///     line TEXT                                          a row that begins with it
///     row N is|has|lacks|begins|ends TEXT                the same of one row
///     above TEXT TEXT, under TEXT TEXT                   rows in that order; right below each other
///     offer TEXT, no-offer TEXT                          what completes the word at the cursor
///     keep A-B, kept A-B, kept screen                    rows are remembered; they are as before
///     FACT = VALUE, FACT != VALUE, FACT ^= BEGINNING, FACT ~ PART, FACT !~ PART
///     each A | B                                         once with each; `$1` stands for it
///
/// The effects stand behind what causes them, in order: `> q => close p11 ; quit`. An `…` stands
/// for any others; `!=> quit` says that there is no such effect. A post is `p11` of the fixture,
/// `n1...90`, or anything like `p13@alice*3=Title|Text`; a comment is `f1` of the fixture, `c1...9`,
/// or `c3<c1@alice=Text`. `{long}` and `{markup}` are texts, and `{{ab*3}}` is ababab. The title stays
/// in `edit p11 - "Text"`.
struct Scene: Sendable, CustomTestStringConvertible {
  typealias Line = SceneText.Line

  let file: String
  let title: String
  let lines: [Line]

  var testDescription: String { title }

  static let all: [Scene] = {
    let files = try? FileManager.default.contentsOfDirectory(
      at: Golden.folder.appendingPathComponent("Scenes"),
      includingPropertiesForKeys: nil
    )
    return (files ?? []).sorted { $0.path < $1.path }.flatMap { scenes(of: $0) }
  }()

  static func scenes(of file: URL) -> [Scene] {
    SceneText.all(ofFileAt: file.path).flatMap { part in
      Scene(file: file.lastPathComponent, title: part.title, lines: part.lines).cases
    }
  }

  /// The scene once for each value of its lines that begin with `each`.
  private var cases: [Scene] {
    let values = lines.filter { $0.text.hasPrefix("each ") }
      .flatMap { $0.text.dropFirst(5).components(separatedBy: " | ") }
    let steps = lines.filter { !$0.text.hasPrefix("each ") }
    guard !values.isEmpty else { return [with(steps, [], title)] }
    return values.map { with(steps, $0.components(separatedBy: " ~ "), "\(title): \($0)") }
  }

  private func with(_ steps: [Line], _ values: [String], _ title: String) -> Scene {
    let lines = steps.map { line in
      var text = line.text
      for (index, value) in values.enumerated() {
        text = text.replacingOccurrences(of: "$\(index + 1)", with: value)
      }
      text = SceneText.expanded(text)
        .replacingOccurrences(of: "{long}", with: Fixture.longBody)
        .replacingOccurrences(of: "{markup}", with: markup)
      return Line(number: line.number, text: text)
    }
    return Scene(file: file, title: title, lines: lines)
  }
}

@Suite("Scenes")
struct SceneTests {
  @Test("A scene goes as it is written", arguments: Scene.all)
  func asWritten(_ scene: Scene) throws {
    var player = ScenePlayer(file: scene.file)
    for line in scene.lines { try player.play(line) }
    #expect(player.checks > 0, "nothing in this scene could fail")
  }
}
