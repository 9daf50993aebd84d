internal import RealtimeCore
internal import RealtimeTransport

extension RESTOptions {
  /// The data as JSON, in the form that was asked for.
  ///
  /// What a query selects is an object always, since holes in an array would count as children.
  func json(of node: Node, isSelection: Bool) -> JSONValue {
    guard let children = node.children else { return node.json(form) }
    if isShallow {
      return .object(children.map.map { JSONMember($0.key.text, .bool(true)) })
    }
    guard isSelection, form == .value else { return node.json(form) }
    return .object(children.map.map { JSONMember($0.key.text, $0.value.json(form)) })
  }

  /// The answer to a request that has been carried out.
  func answer(_ json: JSONValue, status: Int = 200, etag: String? = nil) -> HTTPAnswer {
    if print == .silent, status == 200 { return .empty(204, etag: etag) }
    var body = print == .pretty ? PrettyJSON.text(json) : Array(json.text.utf8)
    if print == .pretty { body.append(UInt8(ascii: "\n")) }
    if let callback { body = Array("\(callback)(".utf8) + body + Array(")".utf8) }
    var answer = HTTPAnswer.json(status, body, etag: etag)
    answer.headerLines.append(HTTPAnswer.HeaderLine("X-Content-Type-Options", "nosniff"))
    if callback != nil { answer.contentType = "application/javascript; charset=utf-8" }
    if let download {
      let name = String(decoding: download.utf8.map(Self.fileByte), as: UTF8.self)
      answer.headerLines.append(
        HTTPAnswer.HeaderLine("Content-Disposition", "attachment; filename=\"\(name)\"")
      )
    }
    return answer
  }

  /// A byte of the name of a file, an underscore where it would mean something else.
  private static func fileByte(_ byte: UInt8) -> UInt8 {
    let isPlain = (0x20...0x7E).contains(byte) && !"\"\\/%".utf8.contains(byte)
    return isPlain ? byte : UInt8(ascii: "_")
  }
}

extension RESTRequest {
  /// The answer that shows data.
  func answer(
    _ node: Node,
    isSelection: Bool = false,
    status: Int = 200,
    tag: String?
  ) -> HTTPAnswer {
    options.answer(
      options.json(of: node, isSelection: isSelection),
      status: status,
      etag: tag.map { EntityTag.text(ofHash: $0) }
    )
  }
}
