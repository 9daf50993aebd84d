package import RealtimeCore

/// Makes pages for readers who have not signed in, at paths that the database does not use.
///
/// It is asked for what is to be read and gets it from the server, which reads as somebody who has not
/// signed in: a page cannot show what the rules do not let everybody read. Its methods may be called on
/// any thread.
package protocol PageSource: Sendable {
  /// Whether a path, still escaped, is that of a page; a path that ends in `.json` never is.
  func owns(_ path: String) -> Bool

  /// Begins to answer a GET request for a path that it owns.
  func page(for request: PageRequest) -> PageStep
}

/// What a reader asks for.
package struct PageRequest: Sendable {
  /// The parts of the path between its slashes, unescaped; empty ones are left out.
  package let segments: [String]
  /// The parameters in order, unescaped.
  package let parameters: [(name: String, value: String)]

  /// Makes a request.
  package init(segments: [String], parameters: [(name: String, value: String)] = []) {
    self.segments = segments
    self.parameters = parameters
  }

  /// The value of the first parameter of a name, or nil.
  package func parameter(_ name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }
}

/// What a page needs to know of the database.
package struct PageRead: Sendable {
  /// The most reads of one step; a step with more fails.
  package static let limit = 64

  /// The location.
  package let path: Path
  /// Which children.
  package let query: Query

  /// Makes a read; by default, of everything at a location.
  package init(_ path: Path, query: Query = .all) {
    self.path = path
    self.query = query
  }
}

/// What a read has found.
package enum PageData: Sendable {
  /// The data; they are shared with the database, so that even large ones cost nothing.
  case found(Node)
  /// The rules do not let everybody read them.
  case denied
  /// They could not be read, for instance since the order has no index.
  case failed
}

/// What is to be done for a page.
package enum PageStep: Sendable {
  /// Read at several places, all at one moment, and go on with the answers in the same order.
  case read([PageRead], then: @Sendable ([PageData]) -> PageStep)
  /// Make the page, beside the event loop.
  case render(@Sendable () -> Page)
}

/// A page as it is sent.
package struct Page: Sendable {
  /// The status, such as 200.
  package var status: Int
  /// The type of the body.
  package var contentType: String
  /// The body.
  package var body: [UInt8]
  /// Further lines of the header; those about validity and caches are the server's.
  package var headerLines: [(name: String, value: String)]
  /// For how many seconds a cache may keep it without asking again.
  package var lifetime: Int

  /// Makes a page.
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
