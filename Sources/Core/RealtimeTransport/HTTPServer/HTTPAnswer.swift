/// The answer to a plain HTTP request.
package struct HTTPAnswer: Hashable, Sendable {
  /// A line of the header.
  package struct HeaderLine: Hashable, Sendable {
    /// The name.
    package let name: String
    /// The value; anything but printable ASCII is replaced when it is sent.
    package let value: String

    /// Makes a line.
    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The status, such as 404.
  package var status: Int
  /// The type of the body, or nil when there is none.
  package var contentType: String?
  /// Further lines of the header; the length and the fate of the connection are added.
  package var headerLines: [HeaderLine]
  /// The body, which is left out where the method or the status does not allow one.
  package var body: [UInt8]

  /// Makes an answer.
  package init(
    status: Int,
    contentType: String?,
    headerLines: [HeaderLine] = [],
    body: [UInt8]
  ) {
    self.status = status
    self.contentType = contentType
    self.headerLines = headerLines
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
