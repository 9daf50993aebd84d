import RealtimeCore
import Testing

/// Part A of the protocol's gotchas, by number, with test vectors of official clients.
@Suite("Gotchas A: hashing")
struct GotchaHashTests {
  @Test(
    "1. Numbers are hashed as the sixteen hexadecimal digits of their double",
    arguments: [
      (0, "0000000000000000", "7ysMph9WPitGP7poMnMHMVPtUlI="),
      (-0.0, "8000000000000000", "m/gA365Q5OBo06Bg8wdybAAiMSQ="),
      (1, "3ff0000000000000", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
      (-1, "bff0000000000000", "dMw8oUBNk57KCeIcgAKXVS2BfB0="),
      (1.5, "3ff8000000000000", "4MftviR9Z/2MQCMkjh2RNbvlLJc="),
      (4, "4010000000000000", "eVih19a6ZDz3NL32uVBtg9KSgQY="),
      (4.5623, "40123fcb923a29c7", "vf1CL0tIRwXXunHcG/irRECk3lY="),
      (0.1 + 0.2, "3fd3333333333334", nil),
      (Double.leastNonzeroMagnitude, "0000000000000001", "AVzIJwC869iLHq/DQh6bzLDrVO4="),
      (9_007_199_254_740_992, "4340000000000000", "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
    ] as [(Double, String, String?)]
  )
  func numbers(value: Double, digits: String, hash: String?) {
    let text = SHA1.digest(of: Array("number:\(digits)".utf8))
    #expect(Node.leaf(.double(value)).hash == Base64.encode(text))
    if let hash { #expect(Node.leaf(.double(value)).hash == hash) }
  }

  @Test("1. An integer hashes as the nearest double")
  func integers() {
    #expect(Node.integer(9_007_199_254_740_993).hash == "m4qsp/5BbIWTdjthNlnOX+WCTB0=")
    #expect(Node.integer(1).hash == Node.leaf(.double(1)).hash)
    // Decimal text, little-endian bytes and uppercase digits would produce these.
    let wrong: [String] = [
      "ezQ0SO2HslS3nronvBjCGy+YXww=", "NRssxOFVHXK8uQqfwlXgwvLNCbc=",
      "Kd65D8WVREj+OXp5PxPj4FLwvFk=",
    ]
    #expect(!wrong.contains(Node.integer(1).hash))
  }

  @Test("2. Booleans hash differently from numbers and strings")
  func booleans() throws {
    #expect(Node.leaf(.bool(true)).hash == "E5z61QM0lN/U2WsOnusszCTkR8M=")
    #expect(Node.leaf(.bool(false)).hash == "aSSNoqcS4oQwJ2xxH20rvpp3zP0=")
    #expect(Node.string("true").hash == "SguBQTzes2fMe/fIMwCRPdBZ4MI=")
    let hashes = try ["true", "1", #""true""#, #""1""#].map { try Node(text: $0).hash }
    #expect(Set(hashes).count == 4)
  }

  @Test(
    "3. The hash of empty data is an empty string, unlike the hash of an empty string",
    arguments: ["null", "{}", #"{"a":null}"#, #"{".priority":1}"#]
  )
  func nothing(text: String) throws {
    #expect(try Node(text: text).hash.isEmpty)
    #expect(Node.string("").hash == "Ki0Xy0V6morg0TO3Sxi/jwugYDQ=")
  }

  @Test(
    "4. A priority is hashed before the data, with its own punctuation",
    arguments: [
      (#"{"a":1,".priority":5}"#, "7Ucnc9YfKfydVr+rPBCMEKdsVEI="),
      (#"{".value":"x",".priority":0}"#, "VGGsieffyDL1UOdTmRuSBa3PaLA="),
      (#"{".value":"x",".priority":""}"#, "UZcc3+2nSy/hJVPJ42dZ+5UBI9A="),
      (
        #"{"root":{"c":{".value":99,".priority":"abc"},".priority":"def"}}"#,
        "Fm6tzN4CVEu5WxFDZUdTtqbTVaA="
      ),
      (
        #"{"root":{"c":{".value":99,".priority":42},".priority":3.14}}"#,
        "B15QCqrzCxrI5zz1y00arWqFRFg="
      ),
    ]
  )
  func priorities(text: String, hash: String) throws {
    #expect(try Node(text: text).hash == hash)
  }

  @Test(
    "5. Children are hashed by priority, then by key with integers first",
    arguments: [
      (#"{"9":"y","10":"x","a":"z"}"#, "zbq+Ql275FizHIY4HsJitm5G780="),
      (
        #"{"a":{".value":1,".priority":2},"b":{".value":1,".priority":1}}"#,
        "Hbshog8epOUNdSPDO3e8VIoAsfw="
      ),
      (
        #"{"a":{".value":1,".priority":"z"},"b":2,"c":{".value":3,".priority":1}}"#,
        "Hvx5bHxe1b/fN57U9fMk1IzsgCc="
      ),
    ]
  )
  func order(text: String, hash: String) throws {
    #expect(try Node(text: text).hash == hash)
  }

  @Test(
    "6. Strings are hashed by their bytes, without Unicode normalization",
    arguments: [
      (#""hey guys""#, "CUNLXWpCVoJE6z7z1vE57lGaKAU="), (#""🐵""#, "mTmoXIHJ7Zm5TKGReizSSGdBnoY="),
      (#""日本""#, "hsL1bLa1lqEquIIRK8lCDGoEtYQ="), (#""\u00e9""#, "1M+kSgpwpb2WVucwSmGGq+h8/uU="),
      (#""e\u0301""#, "33Mx8t4PL5PTL/hAs1ai1jzzuPo="),
      (#"{"\u00e9":1,"e\u0301":2}"#, "f5OAY1ls26/X5sd7kM/+A9WHPFQ="),
    ]
  )
  func text(text: String, hash: String) throws {
    #expect(try Node(text: text).hash == hash)
  }

  @Test("6. Canonically equivalent keys are two children, the decomposed one first")
  func keys() throws {
    let node = try Node(text: #"{"\u00e9":1,"e\u0301":2}"#)
    #expect(node.childCount == 2)
    #expect(
      node.childNames.map { Array($0.utf8) } == [Array("e\u{301}".utf8), Array("\u{E9}".utf8)]
    )
  }

  @Test(
    "7. A compound hash has one more hash than paths, and the last hash is empty",
    arguments: [
      ("null", [], [""]),
      (#"{"foo":"bar"}"#, ["foo"], ["LmKmJmXugtGlEGoulMbz86myDNw=", ""]),
      (
        #"{"foo":{".value":"bar",".priority":"baz"}}"#, ["foo"],
        ["Pg7xV/cwDhcX65Z5lEn4rKdDmX0=", ""]
      ),
    ] as [(String, [Path], [String])]
  )
  func compound(text: String, posts: [Path], hashes: [String]) throws {
    let hash = CompoundHash(of: try Node(text: text))
    #expect(hash == CompoundHash(posts: posts, hashes: hashes))
    #expect(hash.hashes.count == hash.posts.count + 1)
  }

  @Test("7. A range that starts after a child reopens the path to its first leaf")
  func cut() throws {
    let node = try Node(text: #"{"1":"one","2":"two","10":"ten"}"#)
    let expected = CompoundHash(
      posts: ["2", "10"],
      hashes: ["YkodEihR5l3UXCbbKSqqVp082GU=", "pfduDpANk3ljVHkUt4HdLwrlDao=", ""]
    )
    #expect(CompoundHash(of: node) { _, path in path() == "2" } == expected)
  }

  @Test(
    "8. A range excludes its start and includes its end, but nothing below the end",
    arguments: [
      (#"{"bar":1,"foo":2,"quu":3}"#, #"{"foo":9}"#, #"{"bar":1,"foo":9,"quu":3}"#),
      (#"{"bar":1,"foo":2,"quu":3}"#, #"{"baz":7}"#, #"{"bar":1,"baz":7,"quu":3}"#),
      (
        #"{"bar":1,"foo":{"fc":2},"quu":3}"#, #"{"baz":7}"#,
        #"{"bar":1,"baz":7,"foo":{"fc":2},"quu":3}"#
      ),
    ]
  )
  func ranges(before: String, new: String, after: String) throws {
    let merge = RangeMerge(start: "bar", end: "foo", node: try Node(text: new))
    #expect(merge.applied(to: try Node(text: before)).exportText == after)
  }
}
