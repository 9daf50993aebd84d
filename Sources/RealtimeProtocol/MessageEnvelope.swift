internal import RealtimeTree

/// The outer object of every message: control or data.
struct MessageEnvelope {
  enum Kind {
    case control
    case data
  }

  let kind: Kind
  let body: JSONValue

  static func parse(_ bytes: some Collection<UInt8>) throws(MessageError) -> MessageEnvelope {
    let json: JSONValue
    do throws(JSONError) {
      json = try JSONParser.parse(bytes)
    } catch {
      throw MessageError(error.description)
    }
    guard let body = json["d"] else { throw MessageError("a message needs a member \"d\"") }
    switch json["t"]?.string {
    case "c": return MessageEnvelope(kind: .control, body: body)
    case "d": return MessageEnvelope(kind: .data, body: body)
    case nil, _?: throw MessageError("a message needs a member \"t\" of \"c\" or \"d\"")
    }
  }
}
