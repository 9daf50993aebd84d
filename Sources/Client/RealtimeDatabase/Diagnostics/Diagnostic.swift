/// One thing that a database did, for people who want to see it at work.
///
/// It keeps what it is about and puts that into words when it is asked for them.
package struct Diagnostic: Sendable, Equatable {
  /// What was done.
  package enum Kind: Sendable, Hashable {
    /// A frame went to the server; credentials are left out.
    case sent
    /// A frame came from the server.
    case received
    /// An observer was told of a change.
    case event
    /// An observer begins to look at a place.
    case observing(observer: Int64)
    /// An observer no longer looks.
    case stopped(observer: Int64)
    /// A write is under way.
    case writing(request: Int64)
    /// A write was answered.
    case written(request: Int64)
    /// The function of a transaction was asked for new data, or a transaction ended.
    case transaction(request: Int64)
    /// The connection changed.
    case connection
  }

  /// When, in milliseconds since 1970 by the clock of this machine.
  package let time: Int64
  /// What was done.
  package let kind: Kind

  let subject: DiagnosticSubject

  init(time: Int64, kind: Kind, _ subject: DiagnosticSubject) {
    self.time = time
    self.kind = kind
    self.subject = subject
  }

  /// One line about it.
  ///
  /// - Complexity: O(length), which is bounded
  package var title: String { subject.title }

  /// Everything else, a line for each part.
  ///
  /// - Complexity: O(length), which is bounded
  package var details: [String] { subject.details }

  /// About how many bytes are kept for it.
  package var byteCount: Int { 100 + subject.byteCount }

  /// Compares all that is told.
  package static func == (left: Diagnostic, right: Diagnostic) -> Bool {
    left.time == right.time && left.kind == right.kind && left.title == right.title
      && left.details == right.details
  }
}
