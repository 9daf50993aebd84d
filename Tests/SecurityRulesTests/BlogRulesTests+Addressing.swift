import RealtimeCore
import Testing

extension BlogRulesTests {
  private static let answer = #"{"uid":"carol","author":"Name","text":"@bob","parent":"c"}"#

  private static let entry = #"{"key":"--------ncomment0001","post":"p"}"#
  private static let naming = #"{"key":"p","post":"p"}"#

  /// Answers, mentions and tags: the entries that lead to a post or comment.
  static let addressing = [
    BlogAttempt(
      "someone answers, and who is answered or named is told",
      as: "carol",
      ("post-comments/p/--------ncomment0001", answer),
      ("replies/bob/carol~1", entry),
      ("mentions/bob/carol~1", entry),
      allowed: true
    ),
    BlogAttempt(
      "someone answers a comment that is gone",
      as: "carol",
      ("post-comments/p/--------ncomment0001", answer.replacing(#""c""#, with: #""gone""#)),
      allowed: false
    ),
    BlogAttempt(
      "someone answers their own comment, which claims to be there before",
      as: "carol",
      (
        "post-comments/p/--------ncomment0001",
        answer.replacing(#""c""#, with: #""--------ncomment0001""#)
      ),
      allowed: false
    ),
    BlogAttempt(
      "someone makes an answer of an old comment",
      as: "bob",
      ("post-comments/p/c/parent", #""c""#),
      allowed: false
    ),
    BlogAttempt(
      "someone tells another than whom they answer",
      as: "carol",
      ("post-comments/p/--------ncomment0001", answer),
      ("replies/alice/carol~1", entry),
      allowed: false
    ),
    BlogAttempt(
      "what is answered is no key",
      as: "carol",
      ("post-comments/p/--------ncomment0001", answer.replacing(#""c""#, with: "1")),
      allowed: false
    ),
    BlogAttempt(
      "someone tells of an answer that is none",
      as: "bob",
      ("replies/alice/bob~c", #"{"key":"c","post":"p"}"#),
      allowed: false
    ),
    BlogAttempt(
      "someone tells of the answer of another",
      as: "bob",
      ("post-comments/p/--------ncomment0001", answer),
      ("replies/bob/bob~1", entry),
      allowed: false
    ),
    BlogAttempt(
      "someone tells of a comment that is not there",
      as: "carol",
      ("mentions/bob/carol~1", entry),
      allowed: false
    ),
    BlogAttempt(
      "someone tells of the comment of another",
      as: "carol",
      ("mentions/alice/carol~c", #"{"key":"c","post":"p"}"#),
      allowed: false
    ),
    BlogAttempt(
      "the author names somebody",
      as: "alice",
      ("mentions/bob/alice~p", naming),
      allowed: true
    ),
    BlogAttempt(
      "a post names by another",
      as: "bob",
      ("mentions/bob/bob~p", naming),
      allowed: false
    ),
    BlogAttempt(
      "a name is too long",
      as: "alice",
      ("mentions/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/alice~p", naming),
      allowed: false
    ),
    BlogAttempt(
      "an entry is at a place of another",
      as: "alice",
      ("mentions/bob/bob~p", naming),
      allowed: false
    ),
    BlogAttempt(
      "an entry is at more places than somebody has",
      as: "alice",
      ("mentions/bob/alice~pp", naming),
      allowed: false
    ),
    BlogAttempt(
      "an entry has the key of what it leads to, as in earlier versions",
      as: "alice",
      ("mentions/bob/p", #""p""#),
      allowed: false
    ),
    BlogAttempt(
      "an entry has more to say",
      as: "alice",
      ("mentions/bob/alice~p", naming.replacing("{", with: #"{"x":1,"#)),
      allowed: false
    ),
    BlogAttempt("the author tags a post", as: "alice", ("tags/tea/p", #""alice""#), allowed: true),
    BlogAttempt("a tag by another", as: "bob", ("tags/tea/p", #""bob""#), allowed: false),
    BlogAttempt("a tag under another name", as: "alice", ("tags/tea/p", #""bob""#), allowed: false),
    BlogAttempt("a tag of no post", as: "alice", ("tags/tea/x", #""alice""#), allowed: false),
    BlogAttempt(
      "a tag with a priority",
      as: "alice",
      ("tags/tea/p", #"{".value":"alice",".priority":"x"}"#),
      allowed: false
    ),
    BlogAttempt("someone follows", as: "bob", ("following/bob/alice", "true"), allowed: true),
    BlogAttempt("someone follows nobody", as: "bob", ("following/bob/x", "true"), allowed: false),
    BlogAttempt(
      "someone follows for another",
      as: "bob",
      ("following/carol/alice", "true"),
      allowed: false
    ),
    BlogAttempt("someone knows of stars", as: "alice", ("seen/alice/stars/p", "3"), allowed: true),
    BlogAttempt(
      "someone knows of others' stars",
      as: "bob",
      ("seen/bob/stars/p", "3"),
      allowed: false
    ),
  ]
}
