private import Glibc
internal import RealtimeCore
internal import RealtimeTransport

/// A page, with the entity tag of its body.
struct RenderedPage: Sendable {
  let page: Page
  /// The strong entity tag, with its quotes.
  let tag: String

  /// - Complexity: O(bytes)
  init(_ page: Page) {
    self.page = page
    tag = "\"\(Base64.encode(SHA1.digest(of: page.body)))\""
  }

  /// The response, without a body if the reader's copy is still current.
  func answer(to request: HTTPRequest, at now: Int64, versions: PageVersions) -> HTTPAnswer {
    var answer = HTTPAnswer(
      status: page.status,
      contentType: page.contentType,
      headerLines: page.headerLines.map { HTTPAnswer.HeaderLine($0.name, $0.value) },
      body: page.body
    )
    answer.headerLines.append(HTTPAnswer.HeaderLine("Date", HTTPDate.text(now)))
    guard page.status == 200 else {
      answer.headerLines.append(HTTPAnswer.HeaderLine("Cache-Control", "no-cache"))
      return answer
    }
    answer.headerLines += [
      HTTPAnswer.HeaderLine("Cache-Control", "public, max-age=\(page.lifetime)"),
      HTTPAnswer.HeaderLine("ETag", tag),
    ]
    let date = versions.date(of: tag, for: request, at: now)
    if let date { answer.headerLines.append(HTTPAnswer.HeaderLine("Last-Modified", date)) }
    if isKnown(to: request, date: date) {
      answer.status = 304
      answer.body = []
    }
    return answer
  }

  /// Whether the reader has this version; the date only counts if the request has no tag.
  private func isKnown(to request: HTTPRequest, date: String?) -> Bool {
    let known = request.headerList("If-None-Match")
    guard known.isEmpty else {
      return known.contains { $0 == "*" || $0 == tag || $0 == "W/\(tag)" }
    }
    return date != nil && request.header("If-Modified-Since") == date
  }
}

/// Remembers when pages last changed.
///
/// Data carries no date of its last change, so the server remembers when it first rendered each
/// page with its current bytes. Confined to the server's event loop.
final class PageVersions {
  /// The number of pages remembered; when it is reached, all are forgotten and count as new.
  private static let limit = 2_000
  /// The longest address that is remembered, in bytes.
  private static let longestAddress = 512

  /// The bytes of all pages that are kept; when they are exceeded, all are made anew.
  private static let keptBytes = 8 * 1_024 * 1_024

  /// The tag of each page, and when it was first rendered like this, in milliseconds since 1970.
  private var known: [String: (tag: String, since: Int64)] = [:]
  private var kept: [String: (data: [PageData], page: RenderedPage)] = [:]
  private var keptBytes = 0

  /// A page that has been made of the same data before.
  func page(at address: String, of data: [PageData]) -> RenderedPage? {
    guard let kept = kept[address], kept.data == data else { return nil }
    return kept.page
  }

  /// Keeps a page until it is made of other data, or other pages need the memory.
  func keep(_ page: RenderedPage, at address: String, of data: [PageData]) {
    let bytes = page.page.body.count
    guard address.utf8.count <= Self.longestAddress, bytes <= Self.keptBytes / 8 else { return }
    if let old = kept[address] { keptBytes -= old.page.page.body.count }
    if keptBytes + bytes > Self.keptBytes || kept.count >= Self.limit {
      (kept, keptBytes) = ([:], 0)
    }
    keptBytes += bytes
    kept[address] = (data, page)
  }

  /// The value of `Last-Modified` for a page with this tag at the address of a request.
  ///
  /// Its resolution is one second, so there is no date within the first second: the page could
  /// change again and have the same date. The time is in milliseconds since 1970.
  func date(of tag: String, for request: HTTPRequest, at now: Int64) -> String? {
    let address = request.target
    guard address.utf8.count <= Self.longestAddress else { return nil }
    guard let version = known[address], version.tag == tag, version.since <= now else {
      if known.count >= Self.limit { known = [:] }
      known[address] = (tag, now)
      return nil
    }
    guard now / 1_000 > version.since / 1_000 else { return nil }
    return HTTPDate.text(version.since)
  }
}

enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The text of a time in milliseconds since 1970.
  static func text(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1_000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
      + "\(1_900 + Int(parts.tm_year)) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}

extension HTTPAnswer {
  /// The response to a request that tries to change a page.
  static let pageIsReadOnly = HTTPAnswer(
    status: 405,
    contentType: "text/plain; charset=utf-8",
    headerLines: [HeaderLine("Allow", "GET, HEAD"), HeaderLine("Cache-Control", "no-cache")],
    body: Array("pages are read-only\n".utf8)
  )
}
