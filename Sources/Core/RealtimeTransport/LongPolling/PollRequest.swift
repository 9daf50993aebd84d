internal import RealtimeCore

/// A request of a long-polling client, as the official JavaScript client makes them in browsers.
package enum PollRequest: Equatable, Sendable {
  /// Begins a session; the callback completes the names of two functions of the page.
  case start(callback: String)
  /// Waits for messages, and brings pieces of messages.
  case poll(Ticket, serial: Int, pieces: [Piece])
  /// Asks for the page of the frame whose end tells the server that the client has gone.
  case frame(Ticket)
  /// Tells the server that the client has gone.
  case leave(Ticket)

  package static let path = RequestPolicy.longPollingPath

  /// The script that answers a request of an unknown session.
  package static var unknown: [UInt8] { PollingSession.closed }

  /// What proves that a request belongs to a session.
  package struct Ticket: Hashable, Sendable {
    /// The name of the session.
    package let id: String
    /// The secret of the session.
    package let password: String

    package init(id: String, password: String) {
      self.id = id
      self.password = password
    }
  }

  package struct Piece: Equatable, Sendable {
    /// Its number in the session.
    package let number: Int
    /// How many pieces the message has.
    let total: Int
    /// Its share of the base64 text.
    package let text: String
  }

  /// The most digits of a number, which keeps sums of numbers far from overflow.
  private static let mostDigits = 15
  /// The longest callback.
  private static let callbackBytes = 32

  /// Reads the parameters of a request; fails if they are not those of one.
  ///
  /// - Parameter parameters: The parameters; the first of several with the same name counts.
  /// - Complexity: O(parameters)
  package init?(_ parameters: [(name: String, value: String)]) {
    let values = Dictionary(parameters.map { ($0.name, $0.value) }) { first, _ in first }
    if values["start"] == "t" {
      let callback = values["cb"] ?? ""
      // It becomes a part of the script.
      guard callback.utf8.count <= Self.callbackBytes,
        callback.utf8.allSatisfy({ $0.isAlphanumeric || $0 == UInt8(ascii: "_") })
      else { return nil }
      self = .start(callback: callback)
      return
    }
    guard let id = values["id"], let password = values["pw"] else { return nil }
    let ticket = Ticket(id: id, password: password)
    if values["disconn"] == "t" {
      self = .leave(ticket)
    } else if values["dframe"] == "t" {
      self = .frame(ticket)
    } else {
      guard let serial = Self.number(values["ser"]), let pieces = Self.pieces(values) else {
        return nil
      }
      self = .poll(ticket, serial: serial, pieces: pieces)
    }
  }

  private static func pieces(_ values: [String: String]) -> [Piece]? {
    var pieces: [Piece] = []
    while let text = values["d\(pieces.count)"] {
      guard let position = Self.number(values["seg\(pieces.count)"]),
        let total = Self.number(values["ts\(pieces.count)"]), total > 0
      else { return nil }
      pieces.append(Piece(number: position, total: total, text: text))
    }
    return pieces
  }

  private static func number(_ text: String?) -> Int? {
    guard let text, (1...mostDigits).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return Int(text)
  }
}
