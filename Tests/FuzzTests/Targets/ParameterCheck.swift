import NIOHTTP1
import RealtimeCore

@testable import RealtimeServer
@testable import RealtimeTransport

/// The parameters of a REST request form a query that the protocol could have sent as well.
enum ParameterCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let uri = "/p.json?" + String(decoding: input, as: UTF8.self)
    let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: uri)
    let request = HTTPRequest(head: head, peer: .network(address: "test"))
    let sender = Result { () throws(RESTError) in try RESTCredential(request) }
    guard let rest = try? RESTRequest(request, from: sender) else { return }
    if let query = rest.query {
      try demand((try? Query(json: query.json)) == query, "\(query.json.text) is another query")
      for place in QueryCheck.places { try QueryCheck.check(query, at: place) }
    }
    for place in QueryCheck.places {
      let json = rest.options.json(of: place, isSelection: rest.query != nil)
      let answer = rest.options.answer(json)
      try demand([200, 204].contains(answer.status), "the answer has the status \(answer.status)")
      for line in answer.headerLines {
        try demand(
          line.value.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F },
          "a line of the header has the value \(line.value.debugDescription)"
        )
      }
    }
  }
}
