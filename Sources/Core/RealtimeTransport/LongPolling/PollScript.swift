/// Writes the scripts that answer a long-polling client.
///
/// They run in a frame, and call functions of its parent page by two functions of the frame, which
/// the first answer defines.
struct PollScript {
  private(set) var bytes: [UInt8] = []

  /// Defines the functions of the frame, and says which session has begun.
  mutating func start(callback: String, id: String, password: String) {
    for (name, parameters) in [("pLPCommand", "c,a,b"), ("pRTLPCB", "n,l")] {
      write("function \(name)(\(parameters))")
      write("{parent.\(name)\(callback)&&parent.\(name)\(callback)(\(parameters))}\n")
    }
    write("pLPCommand(\"start\",\"\(id)\",\"\(password)\");\n")
  }

  /// Ends the session: after a list, or at once.
  mutating func close(after list: Int? = nil) {
    write("pLPCommand(\"close\"\(list.map { ",\($0)" } ?? ""));\n")
  }

  /// Writes a numbered list of messages.
  ///
  /// - Complexity: O(bytes)
  mutating func list(_ number: Int, _ messages: some Sequence<[UInt8]>) {
    write("pRTLPCB(\(number),[")
    var isFirst = true
    for message in messages {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      ScriptJSON.append(message, to: &bytes)
    }
    write("]);\n")
  }

  private mutating func write(_ text: String) {
    bytes.append(contentsOf: text.utf8)
  }
}

/// JSON as a part of a script.
package enum ScriptJSON {
  /// How an object of a script would have its prototype set instead of a member.
  private static let prototype = Array("\"__proto__\":".utf8)
  private static let member = Array("[\"__proto__\"]:".utf8)

  /// Appends JSON, so that it means the same in a script, even inside a page.
  ///
  /// There must be no blank between a name and its colon.
  ///
  /// - Complexity: O(bytes)
  package static func append(_ json: [UInt8], to bytes: inout [UInt8]) {
    bytes.reserveCapacity(bytes.count + json.count)
    var index = 0
    while index < json.count {
      let byte = json[index]
      switch byte {
      case UInt8(ascii: "<"): bytes.append(contentsOf: #"\u003c"#.utf8)
      case UInt8(ascii: ">"): bytes.append(contentsOf: #"\u003e"#.utf8)
      case UInt8(ascii: "&"): bytes.append(contentsOf: #"\u0026"#.utf8)
      case 0xE2 where json[index...].starts(with: [0xE2, 0x80, 0xA8]):
        bytes.append(contentsOf: #"\u2028"#.utf8)
        index += 2
      case 0xE2 where json[index...].starts(with: [0xE2, 0x80, 0xA9]):
        bytes.append(contentsOf: #"\u2029"#.utf8)
        index += 2
      case UInt8(ascii: "\"")
      where index > 0 && json[index - 1] != UInt8(ascii: "\\")
        && json[index...].starts(with: prototype):
        bytes.append(contentsOf: member)
        index += prototype.count - 1
      default: bytes.append(byte)
      }
      index += 1
    }
  }
}
