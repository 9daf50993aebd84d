import RealtimeCore
import TestSupport
import Testing

@Suite("Node hashes")
struct NodeHashTests {
  @Test(
    "equal those of official clients",
    arguments: [
      ("0", "7ysMph9WPitGP7poMnMHMVPtUlI="),
      ("1", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
      ("1.0", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
      ("-1", "dMw8oUBNk57KCeIcgAKXVS2BfB0="),
      ("1.5", "4MftviR9Z/2MQCMkjh2RNbvlLJc="),
      ("4", "eVih19a6ZDz3NL32uVBtg9KSgQY="),
      ("10", "+r5aI9HvKKagELki8SYKBk0q7D4="),
      ("100", "5PG1TllwFpsPMPTAduN1cJllS2g="),
      ("101", "kD0WC1dhA4d9tF2LqEBSwg8x4BY="),
      ("4.5623", "vf1CL0tIRwXXunHcG/irRECk3lY="),
      ("63.99999999999999", "zFJOUZzUkkkr+HeAqBvpk/EwG9U="),
      ("0.30000000000000004", "+ZMNbmKbExo3ViuO1Vc1Ct29UrI="),
      ("1e21", "rZwDOBGJ9Z0+flzyrCWzeSigSyE="),
      ("5e-324", "AVzIJwC869iLHq/DQh6bzLDrVO4="),
      ("9007199254740991", "zP1cy9AKj8mOJfzxsijijNJ8QdY="),
      ("-9007199254740991", "U8K3LgGrvrEVTL18Ydmg5pmSimM="),
      ("123456789012345680", "8fTNBOIlVhVr09d//Wbc9dPxYZg="),
      ("9007199254740992", "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
      ("9007199254740993", "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
      ("true", "E5z61QM0lN/U2WsOnusszCTkR8M="),
      ("false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
      (#""true""#, "SguBQTzes2fMe/fIMwCRPdBZ4MI="),
      (#""""#, "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
      (#""hey guys""#, "CUNLXWpCVoJE6z7z1vE57lGaKAU="),
      (#""🐵""#, "mTmoXIHJ7Zm5TKGReizSSGdBnoY="),
      (#""日本""#, "hsL1bLa1lqEquIIRK8lCDGoEtYQ="),
      (#""\u00e9""#, "1M+kSgpwpb2WVucwSmGGq+h8/uU="),
      (#""e\u0301""#, "33Mx8t4PL5PTL/hAs1ai1jzzuPo="),
      (#"{"\u00e9":1,"e\u0301":2}"#, "f5OAY1ls26/X5sd7kM/+A9WHPFQ="),
      (#"{"a":1,"b":2}"#, "AUZnXhNqrfbznYVxcCvNpzpjvTU="),
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
  func vector(text: String, hash: String) throws {
    let node = try Node(text: text)
    #expect(node.hash == hash)
    #expect(try Node(text: node.exportText).hash == hash)
    #expect((node.exactHash == hash) == (text != "9007199254740993"))
    if let number = Double(text) { #expect(Node.leaf(.double(number)).hash == hash) }
  }

  @Test(
    "are empty for empty data",
    arguments: ["null", "{}", "[]", #"{"a":null}"#, #"{".priority":1}"#]
  )
  func empty(text: String) throws {
    #expect(try Node(text: text).hash.isEmpty)
  }

  @Test("distinguish 0.1 + 0.2 from 0.3")
  func sum() {
    #expect(Node.leaf(.double(0.1 + 0.2)).hash != Node.leaf(.double(0.3)).hash)
  }

  @Test("include the sign bit of a zero")
  func negativeZero() {
    #expect(Node.leaf(.double(-0.0)).hash == "m/gA365Q5OBo06Bg8wdybAAiMSQ=")
  }

  @Test("treat negative zero from JSON as zero", arguments: ["-0", "-0.0", "-0e5"])
  func negativeZeroFromJSON(text: String) throws {
    #expect(try Node(text: text).hash == Node.integer(0).hash)
  }

  @Test("are equal for a whole double and the integer")
  func wholeDouble() {
    #expect(Node.leaf(.double(4)).hash == Node.integer(4).hash)
  }

  @Test(
    "are exact where the protocol's are ambiguous",
    arguments: [
      ("9007199254740992", "9007199254740993"),
      ("9007199254740993", "9007199254740992.0"),
      ("-9007199254740993", "-9007199254740992"),
      ("9223372036854775807", "9223372036854775806"),
      ("9223372036854775807", "9223372036854775808"),
      (#"{"a":{"b":9007199254740992}}"#, #"{"a":{"b":9007199254740993}}"#),
      (
        #"{".value":1,".priority":9007199254740992}"#, #"{".value":1,".priority":9007199254740993}"#
      ),
      (
        #"{".value":"b:string:c",".priority":"a"}"#, #"{".value":"c",".priority":"a:string:b"}"#
      ),
      (
        #"{".value":":b:3tYODYzGXwaGnXNech4jb4T9las=",".priority":"a"}"#,
        #"{"b":3,".priority":"a:string"}"#
      ),
      (#"{"a":12,"b":1}"#, #"{"a:faLmDyyRLmn84BABqn7M8fPeH54=:b":1}"#),
    ]
  )
  func exactness(one: String, other: String) throws {
    let one = try Node(text: one)
    let other = try Node(text: other)
    #expect(one.hash == other.hash)
    #expect(one.exactHash != other.exactHash)
  }

  @Test("do not depend on the order in which children were set")
  func insertionOrder() {
    var random = SplitMix64(seed: 7)
    let keys = (0..<200).map { ChildKey("k\($0)") }
    let expected = keys.reduce(into: Node.empty) { $0.update(at: Path([$1]), to: .integer(1)) }
    let shuffled = keys.shuffled(using: &random)
    let actual = shuffled.reduce(into: Node.empty) { $0.update(at: Path([$1]), to: .integer(1)) }
    #expect(actual.hash == expected.hash)
  }
}

@Suite("SHA-1")
struct SHA1Tests {
  @Test(
    "produces the published digests",
    arguments: [
      ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
      ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
      ),
      (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ]
  )
  func published(text: String, digest: String) {
    #expect(SHA1.name(of: text, byteCount: 20) == digest)
  }
}

@Suite("Base64")
struct Base64Tests {
  @Test(
    "pads according to the standard",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]
  )
  func padding(text: String, expected: String) {
    #expect(Base64.encode(Array(text.utf8)) == expected)
  }

  @Test("uses plus and slash")
  func alphabet() {
    #expect(Base64.encode([0xFB, 0xEF, 0xFF]) == "++//")
  }
}
