import Foundation
import Testing

/// Every feature and every defect of the published samples, row by row, with the test that shows
/// how it is handled here; another test checks that all the named tests exist.
@Suite("Feature list of the published samples")
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
      "Signing in again restores the same user, and a wrong password is rejected"
    ),
    Row(
      "Signing up, and a session that is kept",
      ends + "AccountTests",
      "Two users sign up on screen, switch accounts, post, star and comment"
    ),
    Row(
      "The first sign-in without a profile",
      screens + "SignInTests",
      "A user without a name is asked for one, with a suggestion"
    ),
    Row(
      "Signing out ends all listeners",
      model + "ListenerTests",
      "Signing out ends all listeners, and signing in again needs as many as before"
    ),
    Row(
      "A forgotten password",
      ends + "AccountTests",
      "A forgotten password can be reset once with a code"
    ),
    Row(
      "The lists: recent, mine, my top, and all top",
      screens + "SampleScreensTests",
      "The lists are recent posts, top posts, my posts and my top posts"
    ),
    Row(
      "The newest hundred, newest first; the most starred first",
      model + "BlogTests",
      "lists the newest hundred posts, newest first, and the top posts, most stars first"
    ),
    Row(
      "A row: author, star, count, title, text",
      screens + "SampleScreensTests",
      "A row shows the star, the count, the author, the title and the text"
    ),
    Row(
      "Live updates",
      model + "LiveBlogTests",
      "reports other users' posts, stars and comments live"
    ),
    Row(
      "A star there and back",
      screens + "UpdateTests",
      "The star key toggles even before the first star is acknowledged"
    ),
    Row(
      "A star in the list and in the post",
      screens + "SampleScreensTests",
      "Defect 3: the star key works in the list and in the open post"
    ),
    Row(
      "After posting, the post is shown",
      screens + "SampleScreensTests",
      "After posting, the list shows the new post selected"
    ),
    Row(
      "Empty title or text",
      screens + "SampleScreensTests",
      "Defect 10: the form stays open with its text if title or body is missing"
    ),
    Row(
      "One key in both places, written at once",
      model + "SampleParityTests",
      "Layout: a post has one key at both paths, with uid, author, title, body and starCount"
    ),
    Row(
      "The post with its comments and a line to write one",
      screens + "SampleScreensTests",
      "A post shows its comments, oldest first, and a line to write one"
    ),
    Row(
      "Comments that are changed and deleted",
      model + "ChangingTests",
      "A comment edited or deleted by another user changes in place"
    ),
    Row(
      "A comment that is sent is brought into view",
      screens + "OpenPostTests",
      "The user's new comment is scrolled into view"
    ),
    Row(
      "Deleting a post with its comments, both copies",
      model + "BlogTests",
      "deletes a post with its comments, but only for its author"
    ),
    Row(
      "No posts yet",
      screens + "SampleScreensTests",
      "Defect 10: a list that becomes empty says so"
    ),
    Row(
      "Errors say what, where and what to do",
      model + "RefusalTests",
      "A refusal by a real server names the path for lists and for every kind of write"
    ),
    Row(
      "The emulator",
      ends + "ServeTests",
      "The emulator warns, stores nothing, opens no local socket and trusts every token"
    ),
    Row(
      "The published rules, and what they do to the sample",
      "SecurityRulesTests/QuickstartRulesTests",
      "The second transaction, on the copy, is denied"
    ),
    Row(
      "Offline",
      ends + "TwoTerminalsTests",
      "Offline writes arrive exactly once and in order when the server is back"
    ),
    Row(
      "Presence, which no sample has",
      model + "PeopleTests",
      "A user is listed with a terminal until the connection ends"
    ),
  ]

  private static let defects = [
    Row(
      "1: the oldest hundred instead of the newest",
      model + "SampleParityTests",
      "Defect 1: the 101st post is shown because the list holds the newest posts"
    ),
    Row(
      "2: the star is always an outline",
      screens + "SampleScreensTests",
      "Defect 2: the user's own star is filled, and those of others are not"
    ),
    Row(
      "3: the star in the list does nothing",
      model + "SampleParityTests",
      "Defects 2 and 3: a star given in a list is read back as the user's own"
    ),
    Row(
      "4: an unknown comment that is removed",
      model + "SampleParityTests",
      "Defect 4: deleting a comment twice, or one that never existed, does no harm"
    ),
    Row(
      "5: the completion fails on success",
      model + "SampleParityTests",
      "Defects 5 and 9: a star is acknowledged once, and both counts agree"
    ),
    Row(
      "6: top posts ascending, or empty",
      model + "SampleParityTests",
      "Defects 6 and 8: both top lists are descending, and a star moves a post up immediately"
    ),
    Row(
      "7: a changed comment throws",
      model + "ChangingTests",
      "A comment edited or deleted by another user changes in place"
    ),
    Row(
      "8: a star does not move a post",
      screens + "SampleScreensTests",
      "Defect 8: a star moves a post in the top list, and the selection follows it"
    ),
    Row(
      "9: the two counts diverge",
      model + "BlogTests",
      "keeps both copies consistent when one user toggles a star on several terminals"
    ),
    Row(
      "10: observers leak",
      model + "ListenerTests",
      "Opening and closing a post a hundred times leaves no extra listeners"
    ),
    Row(
      "10: an emptied list is never cleared",
      model + "SampleParityTests",
      "Defect 10: a list that becomes empty is shown as empty"
    ),
    Row(
      "10: the author is the email address",
      model + "SampleParityTests",
      "Defect 10: the author is the chosen name"
    ),
    Row(
      "11: three listeners for each card",
      model + "ListenerTests",
      "A list of a hundred posts needs as many listeners as a list of one"
    ),
    Row(
      "12: a transaction that gives up is hidden",
      screens + "SampleScreensTests",
      "Defect 12: a star that loses every conflict is reported, not hidden"
    ),
  ]

  @Test("Every row names an existing test", arguments: features + defects)
  func row(_ row: Row) throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let file = tests.appendingPathComponent(row.file + ".swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    #expect(source.contains("\"\(row.test)\""), "\(row.file)")
  }
}
