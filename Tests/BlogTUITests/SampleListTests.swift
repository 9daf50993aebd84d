import Foundation
import Testing

/// Every feature and every defect of the published samples, row by row, with the test that shows
/// how it is handled here; another test checks that all the named tests exist.
@Suite("The list of what the published samples do")
struct SampleListTests {
  /// A row: a feature or defect of a sample, and its test as `FILE: NAME`.
  struct Row: CustomTestStringConvertible {
    let what: String
    let file: String
    let test: String

    init(_ what: String, _ file: String, _ test: String) {
      self.what = what
      self.file = file
      self.test = test
    }

    var testDescription: String { what }
  }

  private static let model = "BlogModelTests/"
  private static let screens = "BlogTUITests/"
  private static let ends = "hearthTests/"

  private static let features = [
    Row(
      "Signing in, and a wrong password",
      ends + "AccountTests",
      "Who signs in again is who they were, and a wrong password is refused"
    ),
    Row(
      "Signing up, and a session that is kept",
      ends + "AccountTests",
      "Two terminals sign up on the screen, switch accounts, post, star and comment"
    ),
    Row(
      "The first sign-in without a profile",
      screens + "SignInTests",
      "Whoever has no name yet is asked for one, with a suggestion"
    ),
    Row(
      "Signing out ends all listeners",
      model + "ListenerTests",
      "Signing out ends all listeners, and signing in again needs as many as before"
    ),
    Row(
      "A forgotten password",
      ends + "AccountTests",
      "Who has forgotten the password sets another with a code, once"
    ),
    Row(
      "The lists: recent, mine, my top, and all top",
      screens + "SampleScreensTests",
      "There are lists of the newest, of mine and of my top posts, and of all top posts"
    ),
    Row(
      "The newest hundred, newest first; the most starred first",
      model + "BlogTests",
      "shows the newest hundred posts, newest first, and the most starred, most first"
    ),
    Row(
      "A row: author, star, count, title, text",
      screens + "SampleScreensTests",
      "A row has the star, the count, the author, the title and the text"
    ),
    Row(
      "Live updates",
      model + "LiveBlogTests",
      "tells of posts, stars and comments of others as they happen"
    ),
    Row(
      "A star there and back",
      screens + "UpdateTests",
      "The star key means there and back even before the first is known"
    ),
    Row(
      "A star in the list and in the post",
      screens + "SampleScreensTests",
      "Defect 3: the star key works in the list and in the open post"
    ),
    Row(
      "After posting, the post is shown",
      screens + "SampleScreensTests",
      "After posting, the list is shown with the new post selected"
    ),
    Row(
      "Empty title or text",
      screens + "SampleScreensTests",
      "Defect 10: the form stays open, with its text, when title or text is missing"
    ),
    Row(
      "One key in both places, written at once",
      model + "SampleParityTests",
      "Layout: a post is under one key in both places, with uid, author, title, body, starCount"
    ),
    Row(
      "The post with its comments and a line to write one",
      screens + "SampleScreensTests",
      "Comments are in the post, oldest first, with a line to write one"
    ),
    Row(
      "Comments that are changed and deleted",
      model + "ChangingTests",
      "A comment that another changes or deletes is seen in place"
    ),
    Row(
      "A comment that is sent is brought into view",
      screens + "OpenPostTests",
      "My new comment is brought into view"
    ),
    Row(
      "Deleting a post with its comments, both copies",
      model + "BlogTests",
      "deletes a post with its comments, for its author alone"
    ),
    Row(
      "No posts yet",
      screens + "SampleScreensTests",
      "Defect 10: a list that becomes empty says so"
    ),
    Row(
      "Errors say what, where and what to do",
      model + "RefusalTests",
      "What a real server refuses names the place, for lists and for every kind of write"
    ),
    Row(
      "The emulator",
      ends + "ServeTests",
      "The emulator warns, keeps nothing, leaves the local socket alone, and believes everyone"
    ),
    Row(
      "The published rules, and what they do to the sample",
      "SecurityRulesTests/QuickstartRulesTests",
      "The second transaction, on the copy, is denied"
    ),
    Row(
      "Offline",
      ends + "TwoTerminalsTests",
      "What is written while the server is gone arrives once and in order when it is back"
    ),
    Row(
      "Presence, which no sample has",
      model + "PeopleTests",
      "see who is here on which terminal, until the connection ends, however it does"
    ),
  ]

  private static let defects = [
    Row(
      "1: the oldest hundred instead of the newest",
      model + "SampleParityTests",
      "Defect 1: the 101st post is shown, since the list is of the newest and not the oldest"
    ),
    Row(
      "2: the star is always an outline",
      screens + "SampleScreensTests",
      "Defect 2: my star is filled, that of others is not"
    ),
    Row(
      "3: the star in the list does nothing",
      model + "SampleParityTests",
      "Defects 2 and 3: a star that is given in a list is read back as mine"
    ),
    Row(
      "4: an unknown comment that is removed",
      model + "SampleParityTests",
      "Defect 4: a comment that vanishes twice, or was never there, harms nothing"
    ),
    Row(
      "5: the completion fails on success",
      model + "SampleParityTests",
      "Defects 5 and 9: a star is answered once, and both counts agree"
    ),
    Row(
      "6: top posts ascending, or empty",
      model + "SampleParityTests",
      "Defects 6 and 8: both top lists are descending, and a star moves a post up at once"
    ),
    Row(
      "7: a changed comment throws",
      model + "ChangingTests",
      "A comment that another changes or deletes is seen in place"
    ),
    Row(
      "8: a star does not move a post",
      screens + "SampleScreensTests",
      "Defect 8: a star moves a post in the top list, and the selection goes with its post"
    ),
    Row(
      "9: the two counts diverge",
      model + "BlogTests",
      "one person's two terminals may star and unstar at once; both copies agree in the end"
    ),
    Row(
      "10: observers leak",
      model + "ListenerTests",
      "Opening and closing a post a hundred times leaves as many as before"
    ),
    Row(
      "10: an emptied list is never cleared",
      model + "SampleParityTests",
      "Defect 10: a list that becomes empty is shown as empty"
    ),
    Row(
      "10: the author is the email address",
      model + "SampleParityTests",
      "Defect 10: the author is the name that was chosen"
    ),
    Row(
      "11: three listeners for each card",
      model + "ListenerTests",
      "A list of a hundred posts needs as many listeners as a list of one"
    ),
    Row(
      "12: a transaction that gives up is hidden",
      screens + "SampleScreensTests",
      "Defect 12: a star that others were always faster than is said, not hidden"
    ),
  ]

  @Test("Every row names a test that there is", arguments: features + defects)
  func row(_ row: Row) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = tests.appendingPathComponent(row.file + ".swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    #expect(source.contains("\"\(row.test)\""), "\(row.file)")
  }
}
