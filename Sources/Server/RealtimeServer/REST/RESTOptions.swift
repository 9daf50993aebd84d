internal import NIOCore
package import RealtimeCore
internal import RealtimeTransport

/// The format that a REST request wants its response in.
struct RESTOptions: Sendable {
  enum Print {
    case compact
    case pretty
    case silent
  }

  private static let longestTimeout: Int64 = 15 * 60 * 1_000

  let print: Print
  let form: Node.JSONForm
  let isShallow: Bool
  /// The name of the function that the response calls.
  let callback: String?
  /// The name of the file that the response should be saved as.
  let download: String?
  let timeout: TimeAmount?
  /// The size limit that the request sets for its write.
  let writeSize: WriteSize

  /// Reads the parameters of a request; unknown ones are ignored.
  init(_ request: HTTPRequest, method: RESTMethod) throws(RESTError) {
    switch request.parameter("print") {
    case nil: print = .compact
    case "pretty": print = .pretty
    case "silent": print = .silent
    case _?: throw RESTError(400, reason: "print must be pretty or silent")
    }
    switch request.parameter("format") {
    case nil: form = .value
    case "export": form = .export
    case _?: throw RESTError(400, reason: "format must be export")
    }
    isShallow = request.parameter("shallow") == "true"
    callback = request.parameter("callback")
    download = request.parameter("download")
    if let callback {
      guard method == .get else { throw RESTError(400, reason: "callback is for GET only") }
      guard Self.isFunctionName(callback) else {
        throw RESTError(400, reason: "callback must be the name of a function")
      }
    }
    if isShallow, form == .export {
      throw RESTError(400, reason: "shallow cannot be combined with format")
    }
    guard
      let size = WriteSize(
        rawValue: request.parameter("writeSizeLimit") ?? WriteSize.unlimited.rawValue
      )
    else {
      let names = WriteSize.allCases.map(\.rawValue).joined(separator: ", ")
      throw RESTError(400, reason: "writeSizeLimit must be one of \(names)")
    }
    writeSize = size
    timeout = try request.parameter("timeout").map(Self.timeout)
  }

  /// Parses a time such as 100ms, 3s or 2min.
  private static func timeout(_ text: String) throws(RESTError) -> TimeAmount {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let factor: Int64? =
      switch text.dropFirst(digits.count) {
      case "ms": 1
      case "s": 1_000
      case "min": 60_000
      default: nil
      }
    guard let factor, let number = Int64(digits), number > 0, number <= longestTimeout / factor
    else {
      throw RESTError(400, reason: "timeout must be a time up to 15min, such as 100ms, 3s or 2min")
    }
    return .milliseconds(number * factor)
  }

  /// Whether a text consists of identifiers separated by periods.
  private static func isFunctionName(_ text: String) -> Bool {
    text.utf8.count <= 128
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { part in
          guard let first = part.first, !(0x30...0x39).contains(first) else { return false }
          return part.allSatisfy { $0.isAlphanumeric || "_$".utf8.contains($0) }
        }
  }
}

extension RESTOptions {
  /// The data as JSON, in the requested form.
  ///
  /// The selection of a query is always an object, because holes in an array would count as
  /// children.
  func json(of node: Node, isSelection: Bool) -> JSONValue {
    guard let children = node.children else { return node.json(form) }
    if isShallow {
      return .object(children.map.map { JSONMember($0.key.text, .bool(true)) })
    }
    guard isSelection, form == .value else { return node.json(form) }
    return .object(children.map.map { JSONMember($0.key.text, $0.value.json(form)) })
  }

  /// The response to a request that was carried out.
  func answer(_ json: JSONValue, status: Int = 200, etag: String? = nil) -> HTTPAnswer {
    if print == .silent, status == 200 { return .empty(204, etag: etag) }
    var body = print == .pretty ? PrettyJSON.text(json) : Array(json.text.utf8)
    if print == .pretty { body.append(UInt8(ascii: "\n")) }
    if let callback {
      var script = Array("\(callback)(".utf8)
      ScriptJSON.append(body, to: &script)
      body = script + ")".utf8
    }
    var answer = HTTPAnswer.json(status, body: body, etag: etag)
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

  /// A byte of a file name, replaced by an underscore if it would have a special meaning.
  private static func fileByte(_ byte: UInt8) -> UInt8 {
    let isPlain = (0x20...0x7E).contains(byte) && !"\"\\/%".utf8.contains(byte)
    return isPlain ? byte : UInt8(ascii: "_")
  }
}

extension RESTRequest {
  /// The response that shows data.
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

/// Prints JSON for people: one member per line, indented by two spaces per level.
package enum PrettyJSON {
  /// The text in UTF-8.
  ///
  /// - Complexity: O(size · depth)
  package static func text(_ value: JSONValue) -> [UInt8] {
    var bytes: [UInt8] = []
    append(value, indent: 0, to: &bytes)
    return bytes
  }

  private static func append(_ value: JSONValue, indent: Int, to bytes: inout [UInt8]) {
    switch value {
    case .array(let elements) where !elements.isEmpty:
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        beginLine(index, indent: indent + 1, to: &bytes)
        append(element, indent: indent + 1, to: &bytes)
      }
      beginLine(0, indent: indent, to: &bytes)
      bytes.append(UInt8(ascii: "]"))
    case .object(let members) where !members.isEmpty:
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        beginLine(index, indent: indent + 1, to: &bytes)
        bytes += JSONValue.string(member.name).text.utf8
        bytes += ": ".utf8
        append(member.value, indent: indent + 1, to: &bytes)
      }
      beginLine(0, indent: indent, to: &bytes)
      bytes.append(UInt8(ascii: "}"))
    case .null, .bool, .integer, .double, .string, .array, .object: bytes += value.text.utf8
    }
  }

  /// Begins the line of an element, after a comma unless the element is the first.
  private static func beginLine(_ index: Int, indent: Int, to bytes: inout [UInt8]) {
    if index > 0 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\n"))
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent * 2))
  }
}
