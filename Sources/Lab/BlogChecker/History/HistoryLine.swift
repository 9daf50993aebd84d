import RealtimeCore

/// One line of a history: a JSON object with the time in microseconds (`t`) and the kind of event (`k`).
///
/// A file has the events of one client in the order of their times:
///
///     {"t":8123456,"k":"header","client":"c07","role":"client","user":"ann","uid":"ann","pid":412,…}
///     {"t":8129001,"k":"invoke","op":1,"do":"comment","post":"-Na","comment":"-Nb","text":"c07-1"}
///     {"t":8131877,"k":"shown","view":"recent","order":1,"what":"post","post":"-Na","starCount":2,…}
///     {"t":8134590,"k":"ok","op":1}
///     {"t":8134700,"k":"invoke","op":2,"do":"star","post":"-Na"}
///     {"t":8139000,"k":"connection","up":false}
///     {"t":9200000,"k":"view","view":"recent","path":"/posts","limit":100,"digest":"…"}
///     {"t":9300000,"k":"end"}
///
/// Whoever is killed leaves no `end`, and perhaps half a last line. A further process of the same
/// client goes on in the same file with a header of its own.
package struct HistoryLine: Hashable, Sendable {
  /// When it happened.
  package var time: Moment
  /// What happened.
  package var event: HistoryEvent

  /// Makes a line.
  package init(_ time: Moment, _ event: HistoryEvent) {
    self.time = time
    self.event = event
  }

  /// The line without its end.
  package var text: String {
    let time = JSONMember("t", .integer(time.microseconds))
    return JSONValue.object([time] + event.members).text
  }

  /// Reads a line.
  ///
  /// - Parameter text: The line without its end.
  /// - Throws: ``HistoryError`` when it is none.
  package init(_ text: String) throws(HistoryError) {
    guard let json = try? JSONParser.parse(text) else { throw HistoryError("it is not JSON") }
    let fields = HistoryFields(json)
    time = Moment(microseconds: try fields.integer("t"))
    event = try HistoryEvent(fields)
  }
}
