/// What a server has answered to a plain HTTP request.
package struct HTTPClientAnswer: Hashable, Sendable {
  /// The status, such as 200.
  package var status: Int
  /// The lines of the header, in their order.
  package var headerLines: [HTTPAnswer.HeaderLine]
  /// The body.
  package var body: [UInt8]

  /// Makes an answer.
  package init(status: Int, headerLines: [HTTPAnswer.HeaderLine] = [], body: [UInt8] = []) {
    self.status = status
    self.headerLines = headerLines
    self.body = body
  }

  /// The value of the first header line of a name, whose case does not matter, or nil.
  package func header(_ name: String) -> String? {
    let name = name.lowercased()
    return headerLines.first { $0.name.lowercased() == name }?.value
  }
}
