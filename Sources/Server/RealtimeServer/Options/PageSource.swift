package import RealtimeCore

/// Makes web pages for readers who have not signed in, at paths that the database does not use.
///
/// A source says what it needs to read, and the server reads that for it as a client that has not
/// signed in. So a page cannot show what the rules do not let everybody read. Its methods may be
/// called on any thread.
package protocol PageSource: Sendable {
  /// Whether a path, still escaped, belongs to a page. A path that ends in `.json` never does.
  func owns(_ path: String) -> Bool

  /// Begins to answer a GET request for a path that the source owns.
  func page(for request: PageRequest) -> PageStep
}

package struct PageRequest: Sendable {
  /// The unescaped path segments, without empty ones.
  package let segments: [String]
  /// The unescaped query parameters, in order.
  package let parameters: [(name: String, value: String)]

  /// The value of the first parameter with a name, or nil.
  package func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }
}

/// Data that a page needs from the database.
package struct PageRead: Sendable {
  /// The maximum number of reads in one step; a step with more fails.
  package static let limit = 64

  package let path: Path
  /// Selects the children to read.
  package let query: Query

  package init(_ path: Path, query: Query = .all) {
    self.path = path
    self.query = query
  }
}

/// The result of a read.
package enum PageData: Sendable, Equatable {
  /// The data, which is shared with the database, so that even large data costs nothing.
  case found(Node)
  /// The rules do not let everybody read the data.
  case denied
  /// The data could not be read, and why, for example because its order has no index.
  case failed(String)
}

/// The next step in making a page.
package enum PageStep: Sendable {
  /// Read several locations at a single moment, and continue with the results in the same order.
  case read([PageRead], then: @Sendable ([PageData]) -> PageStep)
  /// Render the page, off the event loop.
  case render(@Sendable () -> Page)
}

package struct Page: Sendable {
  package var status: Int
  package var contentType: String
  package var body: [UInt8]
  /// Additional header lines; the server adds those about validation and caching.
  package var headerLines: [(name: String, value: String)]
  /// How long a cache may keep the page without revalidating it, in seconds.
  package var lifetime: Int

  package init(
    status: Int = 200,
    contentType: String,
    body: [UInt8],
    headerLines: [(name: String, value: String)] = [],
    lifetime: Int
  ) {
    self.status = status
    self.contentType = contentType
    self.body = body
    self.headerLines = headerLines
    self.lifetime = lifetime
  }
}
