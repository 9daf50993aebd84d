import RealtimeCore
import Testing

extension BlogRulesTests {
  static func comment(_ uid: String, _ text: String) -> String {
    #"{"uid":"\#(uid)","author":"Name","text":\#(text)}"#
  }

  static let commenting = [
    BlogAttempt(
      "someone comments",
      as: "carol",
      ("post-comments/p/--------ncomment0001", comment("carol", #""hi""#)),
      ("users/carol/username", #""Name""#),
      allowed: true
    ),
    BlogAttempt(
      "a comment has a key of one's own choice",
      as: "carol",
      ("post-comments/p/n", comment("carol", #""hi""#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment has the key of a later time",
      as: "carol",
      ("post-comments/p/---0----------------", comment("carol", #""hi""#)),
      allowed: false
    ),
    BlogAttempt(
      "someone comments in lines",
      as: "carol",
      ("post-comments/p/--------ncomment0001", comment("carol", #""a\n\tb""#)),
      allowed: true
    ),
    BlogAttempt(
      "someone comments under another name",
      as: "carol",
      ("post-comments/p/--------ncomment0001", comment("carol", #""hi""#)),
      ("users/carol/username", #""Carol""#),
      allowed: false
    ),
    BlogAttempt(
      "a comment has a priority below",
      as: "carol",
      (
        "post-comments/p/--------ncomment0001",
        comment("carol", #"{".value":"hi",".priority":"x"}"#)
      ),
      allowed: false
    ),
    BlogAttempt(
      "someone comments as another",
      as: "carol",
      ("post-comments/p/--------ncomment0001", comment("bob", #""hi""#)),
      allowed: false
    ),
    BlogAttempt(
      "no one comments without a sign-in",
      as: nil,
      ("post-comments/p/--------ncomment0001", comment("bob", #""hi""#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment is empty",
      as: "bob",
      ("post-comments/p/--------ncomment0001", comment("bob", #""""#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment is blank",
      as: "bob",
      ("post-comments/p/--------ncomment0001", comment("bob", #"" \n""#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment is a number",
      as: "bob",
      ("post-comments/p/--------ncomment0001", comment("bob", "5")),
      allowed: false
    ),
    BlogAttempt(
      "a comment has an escape character",
      as: "bob",
      ("post-comments/p/--------ncomment0001", comment("bob", #""\u001b""#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment is too long",
      as: "bob",
      (
        "post-comments/p/--------ncomment0001",
        comment("bob", "\"\(String(repeating: "x", count: 10_001))\"")
      ),
      allowed: false
    ),
    BlogAttempt(
      "a comment has an unknown field",
      as: "bob",
      ("post-comments/p/--------ncomment0001", comment("bob", #""hi","x":1"#)),
      allowed: false
    ),
    BlogAttempt(
      "a comment has no uid",
      as: "bob",
      ("post-comments/p/--------ncomment0001", #"{"author":"Bob","text":"hi"}"#),
      allowed: false
    ),
    BlogAttempt(
      "a comment is a string",
      as: "bob",
      ("post-comments/p/--------ncomment0001", #""hi""#),
      allowed: false
    ),
    BlogAttempt(
      "a comment is on no post",
      as: "bob",
      ("post-comments/none/--------ncomment0001", comment("bob", #""hi""#)),
      allowed: false
    ),
    BlogAttempt("the author edits", as: "bob", ("post-comments/p/c/text", #""N""#), allowed: true),
    BlogAttempt(
      "the author gives it away",
      as: "bob",
      ("post-comments/p/c/uid", #""carol""#),
      allowed: false
    ),
    BlogAttempt(
      "the author deletes",
      as: "bob",
      ("post-comments/p/c", "null"),
      ("deleted/p/c", #""bob""#),
      allowed: true
    ),
    BlogAttempt(
      "the author deletes and leaves the key to others",
      as: "bob",
      ("post-comments/p/c", "null"),
      allowed: false
    ),
    BlogAttempt(
      "someone says that the comment of another is deleted",
      as: "alice",
      ("deleted/p/c", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "the author deletes again",
      as: "bob",
      ("post-comments/p/gone", "null"),
      allowed: true
    ),
    BlogAttempt(
      "the owner of the post edits",
      as: "alice",
      ("post-comments/p/c/text", #""N""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner of the post deletes",
      as: "alice",
      ("post-comments/p/c", "null"),
      ("deleted/p/c", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "another replaces",
      as: "carol",
      ("post-comments/p/c", comment("carol", #""hi""#)),
      allowed: false
    ),
    BlogAttempt(
      "no one deletes without a sign-in",
      as: nil,
      ("post-comments/p/c", "null"),
      allowed: false
    ),
    BlogAttempt("all comments are replaced", as: "bob", ("post-comments/p", "{}"), allowed: false),
    BlogAttempt(
      "someone names themselves",
      as: "bob",
      ("users/bob/username", #""Bob""#),
      allowed: true
    ),
    BlogAttempt(
      "someone renames themselves",
      as: "alice",
      ("users/alice/username", #""A""#),
      allowed: true
    ),
    BlogAttempt(
      "someone renames another",
      as: "bob",
      ("users/alice/username", #""A""#),
      allowed: false
    ),
    BlogAttempt(
      "a name has a control character",
      as: "bob",
      ("users/bob/username", #""a\u0007""#),
      allowed: false
    ),
    BlogAttempt("a name is blank", as: "bob", ("users/bob/username", #"" ""#), allowed: false),
    BlogAttempt(
      "a name has a priority",
      as: "alice",
      ("users/alice/username/.priority", #""x""#),
      allowed: false
    ),
    BlogAttempt(
      "a person has an unknown field",
      as: "alice",
      ("users/alice/admin", "true"),
      allowed: false
    ),
    BlogAttempt(
      "no one is named without a sign-in",
      as: nil,
      ("users/bob/username", #""Bob""#),
      allowed: false
    ),
  ]
}
