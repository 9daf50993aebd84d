import RealtimeTree
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

  static let starring: [BlogAttempt] = [
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
    [
      BlogAttempt(
        "another stars in both places at once",
        as: "bob",
        ("posts/p/stars/bob", "true"),
        ("posts/p/starCount", "1"),
        ("user-posts/alice/p/stars/bob", "true"),
        ("user-posts/alice/p/starCount", "1"),
        allowed: true
      ),
      BlogAttempt(
        "another stars by single values in one place",
        as: "bob",
        ("posts/s/stars/bob", "true"),
        ("posts/s/starCount", "2"),
        allowed: true
      ),
      BlogAttempt(
        "someone unstars by single values",
        as: "carol",
        ("posts/s/stars/carol", "null"),
        ("posts/s/starCount", "0"),
        allowed: true
      ),
      // An increment that is sent twice after a lost answer counts once.
      BlogAttempt(
        "someone stars again by single values",
        as: "carol",
        ("posts/s/stars/carol", "true"),
        ("posts/s/starCount", "2"),
        allowed: false
      ),
      BlogAttempt(
        "someone unstars again by single values",
        as: "bob",
        ("posts/s/stars/bob", "null"),
        ("posts/s/starCount", "0"),
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
    ],
  ].flatMap(\.self)
}
