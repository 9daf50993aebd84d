import BlogTUI
import RealtimeDatabase

/// Brings what the database tells of its work to the inspector.
final class WireTap {
  /// Takes the events; set before ``start()``.
  var report: @Sendable ([WireEvent]) -> Void = { _ in }
  private let database: Database

  /// Makes a tap; nothing is watched before ``start()``.
  init(_ database: Database) {
    self.database = database
  }

  /// Begins to watch.
  func start() {
    let report = report
    database.observeDiagnostics { report([WireEvent($0)]) }
  }

  /// Ends watching.
  func stop() {
    database.observeDiagnostics(nil)
  }
}

extension WireEvent {
  /// The same in the words of the inspector.
  fileprivate init(_ diagnostic: Diagnostic) {
    let kind: Kind
    var change: Change?
    switch diagnostic.kind {
    case .sent: kind = .sent
    case .received: kind = .received
    case .event: kind = .event
    case .observing(let observer):
      kind = .listener
      change = .begun("\(observer)")
    case .stopped(let observer):
      kind = .listener
      change = .ended("\(observer)")
    case .writing(let request):
      kind = .write
      change = .begun("\(request)")
    case .written(let request):
      kind = .write
      change = .ended("\(request)")
    case .transaction: kind = .transaction
    case .connection: kind = .connection
    }
    self.init(
      time: diagnostic.time,
      kind: kind,
      title: diagnostic.title,
      detail: diagnostic.details.joined(separator: "\n"),
      change: change
    )
  }
}
