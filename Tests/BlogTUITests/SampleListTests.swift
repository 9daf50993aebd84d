import Foundation
import Testing

/// Every feature and every defect of the published samples, row by row, with the test that shows
/// how it is handled here; another test checks that all the named tests exist.
@Suite("Feature list of the published samples")
struct SampleListTests {
  /// Features, then defects by their numbers; below each its test as `FILE: NAME`.
  private static let rows = """
    Signing in, and a wrong password
      hearthTests/Sessions/accounts: Signing in again restores the same user, and a wrong password is rejected
    Signing up, and a session that is kept
      hearthTests/AccountTests: Two users sign up on screen, switch accounts, post, star and comment
    The first sign-in without a profile
      BlogTUITests/SignInTests: A user without a name is asked for one, with a suggestion
    Signing out ends all listeners
      BlogModelTests/ListenerTests: Signing out ends all listeners, and signing in again needs as many as before
    A forgotten password
      hearthTests/Sessions/accounts: A forgotten password can be reset once with a code
    The lists: recent, mine, my top, and all top
      BlogTUITests/Goldens/Scenes/sample: The lists are recent posts, top posts, my posts and my top posts
    The newest hundred, newest first; the most starred first
      BlogModelTests/BlogTests: lists the newest hundred posts, newest first, and the top posts, most stars first
    A row: author, star, count, title, text
      BlogTUITests/Goldens/Scenes/sample: A row shows the star, the count, the author, the title and the text
    Live updates
      BlogModelTests/LiveBlogTests: reports other users' posts, stars and comments live
    A star there and back
      BlogTUITests/Goldens/Scenes/updates: The star key toggles even before the first star is acknowledged
    A star in the list and in the post
      BlogTUITests/Goldens/Scenes/sample: Defect 3: the star key works in the list and in the open post
    After posting, the post is shown
      BlogTUITests/Goldens/Scenes/writing: After posting, the new post is selected in the list
    Empty title or text
      BlogTUITests/Goldens/Scenes/sample: Defect 10: the form stays open with its text if title or body is missing
    One key in both places, written at once
      BlogModelTests/BlogTests: writes a post to both paths at once, with its author's name
    The post with its comments and a line to write one
      BlogTUITests/Goldens/Scenes/sample: A post shows its comments, oldest first, and a line to write one
    Comments that are changed and deleted
      BlogModelTests/ChangingTests: A comment edited or deleted by another user changes in place
    A comment that is sent is brought into view
      BlogTUITests/Goldens/Scenes/open-post: The user's new comment is scrolled into view
    Deleting a post with its comments, both copies
      BlogModelTests/BlogTests: deletes a post with its comments, but only for its author
    No posts yet
      BlogTUITests/Goldens/Scenes/sample: Defect 10: a list that becomes empty says so
    Errors say what, where and what to do
      BlogModelTests/RefusalTests: A refusal by a real server names the path for lists and for every kind of write
    The emulator
      hearthTests/ServeTests: The emulator warns, stores nothing, opens no local socket and trusts every token
    The published rules, and what they do to the sample
      SecurityRulesTests/BlogRulesTests: Each attempt to write under the published sample's rules is allowed or denied as expected
    Offline
      hearthTests/TwoTerminalsTests: Offline writes arrive exactly once and in order when the server is back
    Presence, which no sample has
      BlogModelTests/PeopleTests: A user is listed with a terminal until the connection ends
    1: the oldest hundred instead of the newest
      BlogModelTests/FollowedFeedTests: starts with the newest hundred posts and loads more near the end until the last
    2: the star is always an outline
      BlogTUITests/Goldens/Scenes/sample: Defect 2: the user's own star is filled, and those of others are not
    3: the star in the list does nothing
      BlogModelTests/SampleParityTests: Defects 2 and 3: a star given in a list is read back as the user's own
    4: an unknown comment that is removed
      BlogModelTests/SampleParityTests: Defect 4: deleting a comment twice, or one that never existed, does no harm
    5: the completion fails on success
      BlogModelTests/SampleParityTests: Defects 5 and 9: a star is acknowledged once, and both counts agree
    6: top posts ascending, or empty
      BlogModelTests/SampleParityTests: Defects 6 and 8: both top lists are descending, and a star moves a post up immediately
    7: a changed comment throws
      BlogModelTests/ChangingTests: A comment edited or deleted by another user changes in place
    8: a star does not move a post
      BlogTUITests/Goldens/Scenes/sample: Defect 8: a star moves a post in the top list, and the selection follows it
    9: the two counts diverge
      BlogModelTests/BlogTests: keeps both copies consistent when one user toggles a star on several terminals
    10: observers leak
      BlogModelTests/ListenerTests: Opening and closing a post a hundred times leaves no extra listeners
    10: an emptied list is never cleared
      BlogModelTests/SampleParityTests: Defect 10: a list that becomes empty is shown as empty
    10: the author is the email address
      BlogModelTests/SampleParityTests: Defect 10: the author is the chosen name
    11: three listeners for each card
      BlogModelTests/ListenerTests: A list of a hundred posts needs as many listeners as a list of one
    12: a transaction that gives up is hidden
      BlogTUITests/RefusalScreenTests: Defect 12: a star that loses every conflict is reported, not hidden
    """

  @Test("Every row names an existing test")
  func row() throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent()
    let named = Self.rows.matches(of: /\n {2}([^:]+): (.+)/)
    #expect(named.count == 38)
    for row in named {
      let isText = row.1.contains(/\/(Scenes|Sessions)\//)
      let file = tests.appendingPathComponent("\(row.1).\(isText ? "txt" : "swift")")
      let source = try String(contentsOf: file, encoding: .utf8)
      #expect(source.contains(isText ? "## \(row.2)\n" : "\"\(row.2)\""), "\(row.0)")
    }
  }
}
