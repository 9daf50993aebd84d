internal import NIOCore
internal import RealtimeCore
internal import RealtimeTransport

/// How a REST request wants its answer.
struct RESTOptions: Sendable {
  /// How the JSON is printed.
  enum Print {
    case compact
    case pretty
    /// Not at all.
    case silent
  }

  private static let longestTimeout: Int64 = 15 * 60 * 1_000

  let print: Print
  let form: Node.JSONForm
  let isShallow: Bool
  /// The name of the function that the answer calls.
  let callback: String?
  /// The name of the file that the answer is to become.
  let download: String?
  let timeout: TimeAmount?
  /// How large a write may be.
  let writeSize: WriteSize

  /// Reads the parameters of a request; unknown ones are ignored.
  init(_ request: HTTPRequest, _ method: RESTMethod) throws(RESTError) {
    switch request.parameter("print") {
    case nil: print = .compact
    case "pretty": print = .pretty
    case "silent": print = .silent
    case _?: throw RESTError(400, "print must be pretty or silent")
    }
    switch request.parameter("format") {
    case nil: form = .value
    case "export": form = .export
    case _?: throw RESTError(400, "format must be export")
    }
    isShallow = request.parameter("shallow") == "true"
    callback = request.parameter("callback")
    download = request.parameter("download")
    if let callback {
      guard method == .get else { throw RESTError(400, "callback is for GET only") }
      guard Self.isFunctionName(callback) else {
        throw RESTError(400, "callback must be the name of a function")
      }
    }
    if isShallow, form == .export {
      throw RESTError(400, "shallow cannot be combined with format")
    }
    guard
      let size = WriteSize(
        rawValue: request.parameter("writeSizeLimit") ?? WriteSize.unlimited.rawValue
      )
    else {
      let names = WriteSize.allCases.map(\.rawValue).joined(separator: ", ")
      throw RESTError(400, "writeSizeLimit must be one of \(names)")
    }
    writeSize = size
    timeout = try request.parameter("timeout").map(Self.timeout)
  }

  /// Reads a time such as 100ms, 3s or 2min.
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
    else { throw RESTError(400, "timeout must be a time up to 15min, such as 100ms, 3s or 2min") }
    return .milliseconds(number * factor)
  }

  /// Whether a text is identifiers with points between them.
  private static func isFunctionName(_ text: String) -> Bool {
    text.utf8.count <= 128
      && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .allSatisfy { part in
          guard let first = part.first, !isDigit(first) else { return false }
          return part.allSatisfy { isDigit($0) || isNameStart($0) }
        }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isNameStart(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "$")
  }
}
