import RealtimeCore
import Testing

extension BlogRulesTests {
  static func mine(_ change: (String, String)...) -> String {
    var json = post
    for (old, new) in change { json = json.replacing(old, with: new) }
    return json
  }

  static func create(
    _ name: String,
    _ json: String,
    as uid: String? = "alice",
    allowed: Bool
  ) -> BlogAttempt {
    BlogAttempt(
      name,
      as: uid,
      ("posts/--------newpost00001", json),
      ("user-posts/alice/--------newpost00001", json),
      (Path(wire: "users/\(uid ?? "x")/username"), "\"Alice\""),
      allowed: allowed
    )
  }

  static let creating = [
    create("the owner creates a post in both places", post, allowed: true),
    create("another creates a post as the owner", post, as: "bob", allowed: false),
    create("no one creates a post without a sign-in", post, as: nil, allowed: false),
    create(
      "a post has its own star at once",
      mine(
        (#""starCount":0"#, #""starCount":1,"stars":{"alice":true}"#)
      ),
      allowed: true
    ),
    create(
      "a post has a star of another at once",
      mine(
        (#""starCount":0"#, #""starCount":1,"stars":{"bob":true}"#)
      ),
      allowed: false
    ),
    create("a post has a count without stars", mine((#"t":0"#, #"t":5"#)), allowed: false),
    create("a post has a negative count", mine((#"t":0"#, #"t":-1"#)), allowed: false),
    create("a post has no count", mine((#","starCount":0"#, "")), allowed: false),
    create("a post has no title", mine((#""title":"T","#, "")), allowed: false),
    create("a post has an empty title", mine((#""T""#, #""""#)), allowed: false),
    create("a post has a blank title", mine((#""T""#, #"" \t ""#)), allowed: false),
    create("a title has a line feed", mine((#""T""#, #""a\nb""#)), allowed: false),
    create("a title has an escape character", mine((#""T""#, #""a\u001b[2J""#)), allowed: false),
    create("a title has a C1 control", mine((#""T""#, #""a\u009b""#)), allowed: false),
    create("a title is a number", mine((#""T""#, "5")), allowed: false),
    create(
      "a title has 300 characters",
      mine(
        (#""T""#, "\"\(String(repeating: "x", count: 300))\"")
      ),
      allowed: true
    ),
    create(
      "a title has 301 characters",
      mine(
        (#""T""#, "\"\(String(repeating: "x", count: 301))\"")
      ),
      allowed: false
    ),
    create("a body has lines and tabs", mine((#""B""#, #""a\n\tb 🐵""#)), allowed: true),
    create("a body has an escape character", mine((#""B""#, #""a\u001b""#)), allowed: false),
    create("a body is blank", mine((#""B""#, #""\n \n""#)), allowed: false),
    create(
      "a body is very long",
      mine(
        (#""B""#, "\"\(String(repeating: "x", count: 65_536))\"")
      ),
      allowed: true
    ),
    create(
      "a body is too long",
      mine(
        (#""B""#, "\"\(String(repeating: "x", count: 65_537))\"")
      ),
      allowed: false
    ),
    create("a post has an unknown field", mine((#""title""#, #""x":1,"title""#)), allowed: false),
    create("a post has a priority", mine((#""title""#, #"".priority":1,"title""#)), allowed: false),
    create(
      "a leaf has a priority",
      mine((#""title":"T""#, #""title":{".value":"T",".priority":"x"}"#)),
      allowed: false
    ),
    create("a post has the name of another", mine((#""Alice""#, #""Bob""#)), allowed: false),
    create("a post is a string", #""post""#, allowed: false),
    BlogAttempt(
      "only the post is created",
      as: "alice",
      ("posts/--------newpost00001", post),
      allowed: false
    ),
    BlogAttempt(
      "only the copy is created",
      as: "alice",
      ("user-posts/alice/--------newpost00001", post),
      allowed: false
    ),
    BlogAttempt(
      "the copy is created below another",
      as: "bob",
      ("user-posts/alice/--------newpost00001", post),
      allowed: false
    ),
    BlogAttempt(
      "all posts are replaced",
      as: "alice",
      ("posts", #"{"p":\#(post)}"#),
      allowed: false
    ),
    BlogAttempt(
      "all own copies are replaced",
      as: "alice",
      ("user-posts/alice", "null"),
      allowed: false
    ),
    BlogAttempt("everything is deleted", as: "alice", ("/", "null"), allowed: false),
    BlogAttempt("an unknown place is written", as: "alice", ("status/alice", "1"), allowed: false),
  ]

  static let editing = [
    BlogAttempt(
      "the owner edits both places",
      as: "alice",
      ("posts/p/title", #""N""#),
      ("user-posts/alice/p/title", #""N""#),
      allowed: true
    ),
    // Rules cannot compare stars, so a whole post might bring stars that did not exist.
    BlogAttempt(
      "the owner edits a whole post",
      as: "alice",
      ("posts/p", mine((#""B""#, #""N""#))),
      ("user-posts/alice/p", mine((#""B""#, #""N""#))),
      allowed: false
    ),
    BlogAttempt(
      "the owner edits a starred post in both places",
      as: "alice",
      ("posts/s/body", #""N""#),
      ("user-posts/alice/s/body", #""N""#),
      allowed: true
    ),
    BlogAttempt(
      "the owner edits one place",
      as: "alice",
      ("posts/s/body", #""N""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner edits the copy alone",
      as: "alice",
      ("user-posts/alice/s/title", #""N""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner edits the places differently",
      as: "alice",
      ("posts/p/title", #""N""#),
      ("user-posts/alice/p/title", #""M""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner edits and stars at once",
      as: "alice",
      ("posts/p/title", #""N""#),
      ("user-posts/alice/p/title", #""N""#),
      ("posts/p/stars/alice", "true"),
      ("posts/p/starCount", "1"),
      ("user-posts/alice/p/stars/alice", "true"),
      ("user-posts/alice/p/starCount", "1"),
      allowed: true
    ),
    BlogAttempt(
      "the owner goes by another name on one post",
      as: "alice",
      ("posts/p/author", #""Bob""#),
      ("user-posts/alice/p/author", #""Bob""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner goes by another name",
      as: "alice",
      ("posts/p/author", #""Al""#),
      ("user-posts/alice/p/author", #""Al""#),
      ("users/alice/username", #""Al""#),
      allowed: true
    ),
    BlogAttempt(
      "the owner erases the stars with a whole post",
      as: "alice",
      ("posts/s", post),
      ("user-posts/alice/s", post),
      allowed: false
    ),
    BlogAttempt(
      "the owner weighs the title",
      as: "alice",
      ("posts/p/title/.priority", #""x""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner empties the title",
      as: "alice",
      ("posts/p/title", #""""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner removes the title",
      as: "alice",
      ("posts/p/title", "null"),
      allowed: false
    ),
    BlogAttempt(
      "the owner gives the post away",
      as: "alice",
      ("posts/p/uid", #""bob""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner sets the count",
      as: "alice",
      ("posts/p/starCount", "100"),
      allowed: false
    ),
    BlogAttempt("the owner adds a field", as: "alice", ("posts/p/x", "1"), allowed: false),
    BlogAttempt("another edits the title", as: "bob", ("posts/p/title", #""N""#), allowed: false),
    BlogAttempt("another edits the body", as: "bob", ("posts/p/body", #""N""#), allowed: false),
    BlogAttempt("another edits the author", as: "bob", ("posts/p/author", #""N""#), allowed: false),
    BlogAttempt("another takes the post", as: "bob", ("posts/p/uid", #""bob""#), allowed: false),
    BlogAttempt(
      "another edits the copy",
      as: "bob",
      ("user-posts/alice/p/title", #""N""#),
      allowed: false
    ),
    BlogAttempt(
      "another replaces the post",
      as: "bob",
      ("posts/p", mine((#""alice""#, #""bob""#))),
      allowed: false
    ),
    BlogAttempt("another sets a priority", as: "bob", ("posts/p/.priority", "1"), allowed: false),
    BlogAttempt(
      "no one edits without a sign-in",
      as: nil,
      ("posts/p/title", #""N""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner deletes both places with the comments",
      as: "alice",
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      ("post-comments/p", "null"),
      ("deleted/p/p", #""alice""#),
      allowed: true
    ),
    BlogAttempt(
      "the owner deletes a post and leaves its key to others",
      as: "alice",
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      ("post-comments/p", "null"),
      allowed: false
    ),
    BlogAttempt(
      "the owner deletes a post and leaves its comments",
      as: "alice",
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      ("deleted/p/p", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner says that a post is deleted that is there",
      as: "alice",
      ("deleted/p/p", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "someone says that a key is deleted that never was there",
      as: "alice",
      ("deleted/x/x", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "the owner deletes the post alone",
      as: "alice",
      ("posts/p", "null"),
      allowed: false
    ),
    BlogAttempt(
      "the owner deletes the copy alone",
      as: "alice",
      ("user-posts/alice/p", "null"),
      allowed: false
    ),
    BlogAttempt(
      "the owner deletes the comments alone",
      as: "alice",
      ("post-comments/p", "null"),
      allowed: false
    ),
    BlogAttempt(
      "another deletes the post",
      as: "bob",
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      ("post-comments/p", "null"),
      ("deleted/p/p", #""alice""#),
      allowed: false
    ),
    BlogAttempt(
      "no one deletes without a sign-in",
      as: nil,
      ("posts/p", "null"),
      ("user-posts/alice/p", "null"),
      allowed: false
    ),
    BlogAttempt(
      "what is deleted already is deleted again",
      as: "alice",
      ("posts/gone", "null"),
      ("user-posts/alice/gone", "null"),
      ("post-comments/gone", "null"),
      allowed: true
    ),
  ]
}
