@testable import RealtimeTransport

/// A URL that can be parsed is formatted so that it parses to the same URL.
enum URLCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let text = String(decoding: input, as: UTF8.self)
    guard let url = try? DatabaseURL(text) else { return }
    var written = url.target.description
    let location = url.path.map(PercentEncoding.encode).joined(separator: "/")
    if case .tcp = url.target.endpoint { written += "/" + location }
    if let namespace = url.target.namespace { written += "?ns=" + namespace }
    if case .unix = url.target.endpoint { written += "#/" + location }
    guard let again = try? DatabaseURL(written) else {
      throw BrokenProperty("\(written) is not a URL, but \(text.debugDescription) is")
    }
    try demand(again.target == url.target, "\(written) is another database")
    try demand(
      again.path.map { Array($0.utf16) } == url.path.map { Array($0.utf16) },
      "\(written) is another location"
    )
    try demand(
      (try? DatabaseURL(written))?.description == url.description,
      "\(written) has two descriptions"
    )
  }
}
