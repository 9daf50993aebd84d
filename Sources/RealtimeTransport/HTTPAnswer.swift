/// The answer to a plain HTTP request.
package struct HTTPAnswer: Hashable, Sendable {
  /// The status, such as 404.
  package var status: Int
  /// The type of the body.
  package var contentType: String
  /// The body.
  package var body: [UInt8]

  /// Makes an answer.
  package init(status: Int, contentType: String, body: [UInt8]) {
    self.status = status
    self.contentType = contentType
    self.body = body
  }

  /// Makes an answer whose body is a JSON object with the reason as its member "error".
  ///
  /// - Parameters:
  ///   - status: The status of the failure.
  ///   - error: The reason, in printable ASCII without quotes and backslashes.
  package init(status: Int, error: StaticString) {
    self.init(
      status: status,
      contentType: "application/json; charset=utf-8",
      body: Array("{\"error\":\"\(error)\"}\n".utf8)
    )
  }
}
