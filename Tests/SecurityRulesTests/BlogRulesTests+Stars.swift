import RealtimeCore
import Testing

extension BlogRulesTests {
  static func star(
    _ name: String,
    as uid: String? = "bob",
    _ key: String,
    _ json: String,
    allowed: Bool
  ) -> [BlogAttempt] {
    ["posts/\(key)", "user-posts/alice/\(key)"].map {
      BlogAttempt("\(name) (\($0))", as: uid, (Path(wire: $0), json), allowed: allowed)
    }
  }

  static let byBob = mine((#"t":0"#, #"t":1,"stars":{"bob":true}"#))

  /// What friends may do with whole posts.
  static let friendlyStarring: [BlogAttempt] = [
    star("another stars", "p", byBob, allowed: true),
    star("another stars what someone starred", "s", both, allowed: true),
    star("the owner stars", as: "alice", "p", byBob.replacing("bob", with: "alice"), allowed: true),
    star("someone unstars", as: "carol", "s", post, allowed: true),
    star("a star that is there is written again", as: "carol", "s", starred, allowed: true),
    star("no star is written again", "p", post, allowed: true),
    star("no one stars without a sign-in", as: nil, "p", byBob, allowed: false),
    star("another stars for dave", "p", byBob.replacing("bob", with: "dave"), allowed: false),
    star(
      "another stars for dave too",
      "p",
      mine((#"t":0"#, #"t":2,"stars":{"bob":true,"dave":true}"#)),
      allowed: false
    ),
    star("another takes the only star of carol", "s", post, allowed: false),
    star("another stars and takes the star of carol", "s", byBob, allowed: false),
    star(
      "another stars without the count",
      "s",
      both.replacing(#"t":2"#, with: #"t":1"#),
      allowed: false
    ),
    star("another counts without a star", "p", mine((#"t":0"#, #"t":1"#)), allowed: false),
    star("another counts twice", "s", both.replacing(#"t":2"#, with: #"t":3"#), allowed: false),
    star(
      "another removes the count",
      "s",
      both.replacing(#","starCount":2"#, with: ""),
      allowed: false
    ),
    star(
      "someone unstars without the count",
      as: "carol",
      "s",
      mine((#"t":0"#, #"t":1"#)),
      allowed: false
    ),
    star("a star is no boolean", "p", byBob.replacing("true", with: "1"), allowed: false),
    star("a star is false", "p", byBob.replacing("true", with: "false"), allowed: false),
    star(
      "the stars are no map",
      "s",
      starred.replacing(#"{"carol":true}"#, with: #""x""#),
      allowed: false
    ),
    star("another stars and edits", "p", byBob.replacing(#""T""#, with: #""N""#), allowed: false),
    star(
      "another stars and adds a field",
      "p",
      byBob.replacing(#""T""#, with: #""T","x":1"#),
      allowed: false
    ),
  ].flatMap(\.self)

  /// Adding or removing a star, with the resulting count, at both copies or at one.
  static func increment(
    _ name: String = "a star",
    as uid: String?,
    of star: String? = nil,
    _ key: String,
    _ json: String,
    count: Int,
    allowed: Bool
  ) -> BlogAttempt {
    let star = star ?? uid ?? "x"
    let places = ["posts/\(key)", "user-posts/alice/\(key)"].map { Path(wire: $0) }
    return BlogAttempt(
      name,
      as: uid,
      (places[0].appending(Path(wire: "stars/\(star)")), json),
      (places[0].appending(Path(wire: "starCount")), "\(count)"),
      (places[1].appending(Path(wire: "stars/\(star)")), json),
      (places[1].appending(Path(wire: "starCount")), "\(count)"),
      allowed: allowed
    )
  }

  /// What every user may do: add the user's own star at both paths, and nothing with a whole post.
  static let starring: [BlogAttempt] =
    friendlyStarring.map { $0.refused() } + [
      increment("another stars", as: "bob", "p", "true", count: 1, allowed: true),
      increment("another stars too", as: "bob", "s", "true", count: 2, allowed: true),
      increment("the owner stars", as: "alice", "s", "true", count: 2, allowed: true),
      increment("someone unstars", as: "carol", "s", "null", count: 0, allowed: true),
      increment("no one stars", as: nil, "p", "true", count: 1, allowed: false),
      increment("another counts twice", as: "bob", "p", "true", count: 2, allowed: false),
      increment("another stars uncounted", as: "bob", "p", "true", count: 0, allowed: false),
      increment("another counts unstarred", as: "bob", "p", "null", count: 1, allowed: false),
      increment("a star is false", as: "bob", "p", "false", count: 1, allowed: false),
      increment("a star is a text", as: "bob", "p", #""x""#, count: 1, allowed: false),
      increment(
        "a star has a priority",
        as: "bob",
        "p",
        #"{".value":true,".priority":"x"}"#,
        count: 1,
        allowed: false
      ),
      increment(
        "another stars for dave",
        as: "bob",
        of: "dave",
        "p",
        "true",
        count: 1,
        allowed: false
      ),
      increment(
        "another takes the star of carol",
        as: "bob",
        of: "carol",
        "s",
        "null",
        count: 0,
        allowed: false
      ),
      increment("another takes no star", as: "bob", "s", "null", count: 0, allowed: false),
      // An increment that is sent twice after a lost response counts once.
      increment("someone stars again", as: "carol", "s", "true", count: 2, allowed: false),
      increment(
        "a star that is there is written",
        as: "carol",
        "s",
        "true",
        count: 1,
        allowed: true
      ),
      increment("someone stars what is gone", as: "bob", "gone", "true", count: 1, allowed: false),
      BlogAttempt(
        "another stars in one place",
        as: "bob",
        ("posts/s/stars/bob", "true"),
        ("posts/s/starCount", "2"),
        allowed: false
      ),
      BlogAttempt(
        "another stars at the copy",
        as: "bob",
        ("user-posts/alice/s/stars/bob", "true"),
        ("user-posts/alice/s/starCount", "2"),
        allowed: false
      ),
      BlogAttempt(
        "someone unstars in one place",
        as: "carol",
        ("posts/s/stars/carol", "null"),
        ("posts/s/starCount", "0"),
        allowed: false
      ),
      BlogAttempt(
        "another stars a post that is deleted at the same time",
        as: "alice",
        ("posts/p", "null"),
        ("user-posts/alice/p", "null"),
        ("posts/p/stars/alice", "true"),
        allowed: false
      ),
      BlogAttempt(
        "another writes only a star",
        as: "bob",
        ("posts/s/stars/bob", "true"),
        allowed: false
      ),
      BlogAttempt(
        "another writes only the count",
        as: "bob",
        ("posts/s/starCount", "2"),
        allowed: false
      ),
      BlogAttempt(
        "another removes the star of carol",
        as: "bob",
        ("posts/s/stars/carol", "null"),
        allowed: false
      ),
      BlogAttempt(
        "someone weighs all stars",
        as: "carol",
        ("posts/s/stars/.priority", "1"),
        allowed: false
      ),
    ]
}
