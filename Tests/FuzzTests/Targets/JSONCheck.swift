import RealtimeCore

@testable import RealtimeServer

/// Valid JSON is encoded so that it parses to the same value, as is the data that it represents.
enum JSONCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONParser.parse(input)
    } catch {
      try demand((0...input.count).contains(error.offset), "the mistake is outside of the text")
      try checkReaders(input, nil)
      return
    }
    try checkReaders(input, value)
    for text in [value.text, String(decoding: PrettyJSON.text(value), as: UTF8.self)] {
      try demand((try? JSONParser.parse(text)) == value, "\(text) reads as something else")
    }
    try demand(
      (try? JSONParser.parse(value.canonicalText))?.canonicalText == value.canonicalText,
      "\(value.canonicalText) is not canonical"
    )
    try demand(
      (try? JSONParser.parse(input, depthLimit: 4)) == (depth(of: value) <= 4 ? value : nil),
      "the limit of the depth is not where it should be"
    )
    guard let node = try? Node(json: value) else { return }
    try checkNode(node)
  }

  private static func checkNode(_ node: Node) throws(BrokenProperty) {
    var writer = JSONWriter()
    node.write(to: &writer)
    let again = (try? JSONParser.parse(writer.bytes)).flatMap { try? Node(json: $0) }
    try demand(again == node, "\(writer.text) stands for other data")
    try demand(again?.hash == node.hash, "\(writer.text) has another hash")
    try demand(node.json(.export).text == writer.text, "data is written in two ways")
    // Arrays may appear or disappear once, but data in value form survives another round trip.
    if let plain = try? Node(json: node.json(.value)) {
      let twice = try? Node(json: plain.json(.value))
      try demand(twice == plain, "\(plain.json(.value).text) does not keep its form")
    }
  }

  private static func depth(of value: JSONValue) -> Int {
    switch value {
    case .null, .bool, .integer, .double, .string: 0
    case .array(let elements): elements.map { depth(of: $0) + 1 }.max() ?? 0
    case .object(let members): members.map { depth(of: $0.value) + 1 }.max() ?? 0
    }
  }
}
