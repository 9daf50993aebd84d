import BlogTUI
import NIOConcurrencyHelpers
import RealtimeDatabase

/// Feeds the inspector with the database's diagnostics.
///
/// States: closed → noting ⇄ telling. While the inspector is closed, the latest events are only
/// buffered, so that it can show what came before, and nothing wakes the screen. The buffer is
/// bounded in number and size, and events are formatted only when the inspector is open.
final class WireTap: Sendable {
  /// The minimum number of events kept, if they are small; at most twice as many are buffered.
  static let length = 500
  /// The maximum number of bytes buffered, counting what each event keeps alive.
  static let size = 1_000_000

  fileprivate struct State {
    var report: @Sendable ([WireEvent]) -> Void = { _ in }
    var isTelling = false
    var events: [Diagnostic] = []
    var size = 0
    /// The begun listeners and writes that have been reported, and whose ends have not.
    var told: Set<Diagnostic.Kind> = []
    /// The unreported ends of those, and the begun listeners and writes dropped from the buffer.
    var kept: [Diagnostic.Kind: Diagnostic] = [:]
  }

  private let state = NIOLockedValueBox(State())
  private let database: Database

  /// Makes a tap; nothing is buffered before ``open(in:known:)``.
  init(_ database: Database) {
    self.database = database
  }

  func report(_ receiver: @escaping @Sendable ([WireEvent]) -> Void) {
    state.withLockedValue { $0.report = receiver }
  }

  /// Starts to buffer events, and connects screens to the wire.
  @MainActor
  func open(in environment: inout Environment, known secrets: [String] = []) {
    environment.watchWire = { $0 ? self.start() : self.stop() }
    environment.attributeWrites = { Database.$causeOfWrites.withValue($0, operation: $1) }
    environment.writeWire = { TextFile.write(lines: $0, to: $1, known: secrets) }
    environment.setNetwork = { [database] isOn in
      isOn ? database.goOnline() : database.goOffline()
    }
    database.observeDiagnostics { [state] diagnostic in
      state.withLockedValue { state in
        if state.isTelling { state.tell([diagnostic]) } else { state.note(diagnostic) }
      }
    }
  }

  /// Reports the buffered events, and from then on every event as it happens.
  func start() {
    state.withLockedValue { state in
      guard !state.isTelling else { return }
      state.isTelling = true
      let kept = state.kept.values.sorted { ($0.time, $0.title) < ($1.time, $1.title) }
      state.tell(kept + state.events)
      state.forget()
    }
  }

  /// Returns to buffering; the next ``start()`` reports what was buffered.
  func stop() {
    state.withLockedValue { $0.isTelling = false }
  }

  /// The buffered events, which remain buffered; none while they are reported as they happen.
  func recent() -> [WireEvent] {
    state.withLockedValue { $0.events.map { WireEvent($0) } }
  }

  /// Stops observing the database.
  func close() {
    database.observeDiagnostics(nil)
  }
}

extension WireTap.State {
  fileprivate mutating func tell(_ events: [Diagnostic]) {
    for event in events {
      switch event.kind {
      case .observing, .writing: told.insert(event.kind)
      case .stopped(let observer): told.remove(.observing(observer: observer))
      case .written(let request): told.remove(.writing(request: request))
      case .sent, .received, .event, .transaction, .connection: break
      }
    }
    report(events.map { WireEvent($0) })
  }

  fileprivate mutating func note(_ event: Diagnostic) {
    events.append(event)
    size += event.byteCount
    // Half is dropped at once, so that the cost per event does not depend on how many there are.
    while events.count > 2 * WireTap.length || (size > WireTap.size && events.count > 1) {
      drop(events.count / 2)
    }
  }

  private mutating func drop(_ count: Int) {
    for event in events.prefix(count) {
      size -= event.byteCount
      switch event.kind {
      case .observing, .writing: kept[event.kind] = event
      case .stopped(let observer): end(.observing(observer: observer), with: event)
      case .written(let request): end(.writing(request: request), with: event)
      case .sent, .received, .event, .transaction, .connection: break
      }
    }
    events.removeFirst(count)
  }

  private mutating func end(_ beginning: Diagnostic.Kind, with event: Diagnostic) {
    kept[beginning] = nil
    if told.remove(beginning) != nil { kept[event.kind] = event }
  }

  fileprivate mutating func forget() {
    events = []
    kept = [:]
    size = 0
  }
}

extension WireEvent {
  /// The diagnostic in the words of the inspector.
  fileprivate init(_ diagnostic: Diagnostic) {
    let kind: Kind =
      switch diagnostic.kind {
      case .sent: .sent
      case .received: .received
      case .event: .event
      case .observing, .stopped: .listener
      case .writing, .written: .write
      case .transaction: .transaction
      case .connection: .connection
      }
    self.init(time: diagnostic.time, kind: kind, title: diagnostic.title)
    detail = diagnostic.details.joined(separator: "\n")
    switch diagnostic.kind {
    case .observing(let number), .writing(let number): change = .begun("\(number)")
    case .stopped(let number), .written(let number): change = .ended("\(number)")
    case .transaction(let request): group = "\(request)"
    case .sent, .received, .event, .connection: break
    }
    size = diagnostic.frameSize
    path = diagnostic.path
    carried = diagnostic.carried.isEmpty ? nil : diagnostic.carried.map(String.init)
    cause = diagnostic.cause
  }
}
