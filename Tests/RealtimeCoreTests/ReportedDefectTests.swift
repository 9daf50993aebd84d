import RealtimeCore
import Testing

/// Defects that users of other clients of this protocol have reported, as tests of the data.
@Suite("Reported bugs: data")
struct ReportedDefectTests {
  @Test(
    "A double hashes the same on client and server and after a round trip",
    arguments: [
      ("9007199254740991", "zP1cy9AKj8mOJfzxsijijNJ8QdY="),
      ("-9007199254740991", "U8K3LgGrvrEVTL18Ydmg5pmSimM="),
      ("63.99999999999999", "zFJOUZzUkkkr+HeAqBvpk/EwG9U="),
      ("0.30000000000000004", "+ZMNbmKbExo3ViuO1Vc1Ct29UrI="),
      ("1e21", "rZwDOBGJ9Z0+flzyrCWzeSigSyE="),
      ("123456789012345680", "8fTNBOIlVhVr09d//Wbc9dPxYZg="),
    ]
  )
  func doubleHashes(text: String, hash: String) throws {
    let node = try Node(text: text)
    #expect(node.hash == hash)
    #expect(try Node(text: node.exportText).hash == hash)
    let value = try #require(Double(text))
    #expect(Node.leaf(.double(value)).hash == hash)
  }

  @Test(
    "A key that looks like a large number makes an object, not a huge array",
    arguments: ["123456789012345", "999999999999999", "2147483646", "4294967295"]
  )
  func largeIntegerKeys(key: String) throws {
    for text in [#"{"\#(key)":true}"#, #"{"0":1,"\#(key)":true}"#] {
      let node = try Node(text: text)
      #expect(node.json(.value).text == text)
      #expect(node.exportText == text)
      #expect(node.childCount == (text.contains("\"0\"") ? 2 : 1))
    }
  }

  @Test("A long number is an ordinary key in the path of an update")
  func largeIntegerKeyInPath() throws {
    var node = try Node(text: #"{"list":["a","b"]}"#)
    node.update(at: Path(wire: "list/123456789012345"), to: .string("c"))
    #expect(node.json(.value).text == #"{"list":{"0":"a","1":"b","123456789012345":"c"}}"#)
  }
}
