import RealtimeCore
import Testing

extension BlogRulesTests {
  private static let here = #"{"name":"Name","terminal":"pts/3","since":1}"#
  private static let typing = #"{"name":"Name","at":0}"#

  /// Presence, typing and read marks; the time of all attempts is 0.
  static let meeting = [
    BlogAttempt("someone is here", as: "bob", ("presence/bob/t1", here), allowed: true),
    BlogAttempt(
      "someone is here under another name",
      as: "bob",
      ("presence/bob/t1", here.replacing("Name", with: "Alice")),
      allowed: false
    ),
    BlogAttempt(
      "someone is writing under another name",
      as: "bob",
      ("typing/p/bob", typing.replacing("Name", with: "Alice")),
      allowed: false
    ),
    BlogAttempt("someone leaves", as: "bob", ("presence/bob/t1", "null"), allowed: true),
    BlogAttempt(
      "someone is here as another",
      as: "carol",
      ("presence/bob/t1", here),
      allowed: false
    ),
    BlogAttempt(
      "someone sends another away",
      as: "carol",
      ("presence/bob", "null"),
      allowed: false
    ),
    BlogAttempt(
      "no one is here without a sign-in",
      as: nil,
      ("presence/bob/t1", here),
      allowed: false
    ),
    BlogAttempt(
      "an entry has an unknown field",
      as: "bob",
      ("presence/bob/t1", here.replacing("{", with: #"{"x":1,"#)),
      allowed: false
    ),
    BlogAttempt(
      "a terminal has an escape character",
      as: "bob",
      ("presence/bob/t1", here.replacing("pts", with: #"\u001b"#)),
      allowed: false
    ),
    BlogAttempt("someone is writing", as: "bob", ("typing/p/bob", typing), allowed: true),
    BlogAttempt("someone stops writing", as: "bob", ("typing/p/bob", "null"), allowed: true),
    BlogAttempt("someone writes as another", as: "carol", ("typing/p/bob", typing), allowed: false),
    BlogAttempt(
      "someone is writing on no post",
      as: "bob",
      ("typing/none/bob", typing),
      allowed: false
    ),
    BlogAttempt(
      "someone is writing at another time",
      as: "bob",
      ("typing/p/bob", typing.replacing("0", with: "60000")),
      allowed: false
    ),
    BlogAttempt(
      "someone has read a post",
      as: "bob",
      ("seen/bob/marks/m001", #"{"post":"p","read":"c"}"#),
      ("seen/bob/before", "0"),
      allowed: true
    ),
    BlogAttempt(
      "a post is to be read again",
      as: "bob",
      ("seen/bob/marks/m001", #"{"post":"p","read":false}"#),
      allowed: true
    ),
    BlogAttempt(
      "a post is read in a wrong way",
      as: "bob",
      ("seen/bob/marks/m001", #"{"post":"p","read":true}"#),
      allowed: false
    ),
    BlogAttempt(
      "a mark has a key of one's own choice",
      as: "bob",
      ("seen/bob/marks/m1000", #"{"post":"p","read":"c"}"#),
      allowed: false
    ),
    BlogAttempt("all marks are a text", as: "bob", ("seen/bob/marks", #""x""#), allowed: false),
    BlogAttempt("what was read is a text", as: "bob", ("seen/bob", #""x""#), allowed: false),
    BlogAttempt(
      "marks as they were once go",
      as: "bob",
      ("seen/bob/posts", "null"),
      ("seen/bob/before", "0"),
      allowed: true
    ),
    BlogAttempt(
      "a terminal has a key of one's own choice",
      as: "bob",
      ("presence/bob/terminal-1", here),
      allowed: false
    ),
    BlogAttempt("everything is read", as: "bob", ("seen/bob", #"{"before":0}"#), allowed: true),
    BlogAttempt("the future is read", as: "bob", ("seen/bob/before", "1"), allowed: false),
    BlogAttempt(
      "another has read a post",
      as: "carol",
      ("seen/bob/marks/m001", #"{"post":"p","read":"c"}"#),
      allowed: false
    ),
    BlogAttempt("a place has an unknown field", as: "bob", ("seen/bob/x", "1"), allowed: false),
  ]
}
