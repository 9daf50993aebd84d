internal import RealtimeTransport

extension HTTPAnswer {
  /// An answer with JSON, which nobody is to keep.
  static func json(_ status: Int, _ body: [UInt8], etag: String? = nil) -> HTTPAnswer {
    var answer = HTTPAnswer(
      status: status,
      contentType: "application/json; charset=utf-8",
      headerLines: [HeaderLine("Cache-Control", "no-cache")],
      body: body
    )
    if let etag { answer.headerLines.append(HeaderLine("ETag", etag)) }
    return answer
  }

  /// An answer without a body.
  static func empty(_ status: Int, etag: String? = nil) -> HTTPAnswer {
    var answer = HTTPAnswer.json(status, [], etag: etag)
    answer.contentType = nil
    return answer
  }

  static let notREST = HTTPAnswer(
    status: 404,
    contentType: "text/plain; charset=utf-8",
    body: Array("append .json to your request URI to use the REST API.\n".utf8)
  )
}
