import BlogModel
import RealtimeCore

/// One line of a recording: the passing of time, an entry, or both.
package struct RecordedStep: Equatable, Sendable {
  /// The time by the server's clock, in milliseconds since 1970; nil if it has not changed.
  package var time: Int64?
  /// What happened; nil if only time has passed.
  package var entry: RecordingEntry?

  package var events: [Event] {
    let tick = time.map { [Event.tick(now: $0)] } ?? []
    guard case .event(let event)? = entry else { return tick }
    return tick + [event]
  }
}

/// A recording at one of its steps: forward by applying events, back by restoring snapshots.
///
/// A snapshot is kept at regular intervals, so that stepping back replays only a few events.
package struct Replay: Sendable {
  package let recording: Recording
  /// The number of steps before the current position.
  package private(set) var position = 0
  /// The number of steps executed so far, including repeated ones.
  private(set) var carriedOut = 0
  package private(set) var model: Model

  /// The time of each position, which never decreases, even where a clock did.
  private let times: [Int64]
  private let interval: Int
  private var snapshots: [Model]
  /// The facts of the executed steps, from the first step on without a gap.
  private var facts: [[ReplayFact]] = []

  /// Makes a replay positioned before the first step.
  package init(_ recording: Recording, interval: Int = 64) {
    self.recording = recording
    // A thousand snapshots are enough to make every step back fast.
    self.interval = max(1, interval, recording.steps.count / 1_000)
    model = Model(recording.start)
    snapshots = [model]
    var times = [Self.clamped(recording.start.now)]
    times.reserveCapacity(recording.steps.count + 1)
    for step in recording.steps {
      times.append(max(times[times.count - 1], Self.clamped(Self.time(of: step))))
    }
    self.times = times
  }

  /// Clamps a time from a file so that arithmetic with it cannot overflow.
  private static func clamped(_ time: Int64) -> Int64 { max(-(1 << 53), min(time, 1 << 53)) }

  private static func time(of step: RecordedStep) -> Int64 {
    if case .start(let start)? = step.entry { return start.now }
    return step.time ?? .min
  }

  package var count: Int { recording.steps.count }
  package var isAtEnd: Bool { position == count }
  /// The milliseconds from the beginning to the current position.
  package var elapsed: Int64 { elapsed(at: position) }
  /// The milliseconds from the beginning to the end.
  package var duration: Int64 { elapsed(at: count) }
  /// The milliseconds from the beginning to a position.
  package func elapsed(at position: Int) -> Int64 { times[position] - times[0] }
  /// What the last step did.
  package var lastFacts: [ReplayFact] { position == 0 ? [] : facts[position - 1] }
  package var screen: Screen { view(model) }

  /// Moves to a position, limited to the range of the recording.
  ///
  /// - Complexity: O(number of steps) forward, O(interval) backward
  package mutating func move(to target: Int) {
    let target = max(0, min(target, count))
    if target < position {
      let snapshot = target / interval
      model = snapshots[snapshot]
      position = snapshot * interval
    }
    while position < target { advance() }
  }

  /// Moves forward by that many steps, or back if the number is negative.
  package mutating func move(by steps: Int) { move(to: position + steps) }

  /// Moves forward by a time, or back if it is negative, but always by at least one step.
  package mutating func move(byMilliseconds time: Int64) {
    let goal = times[position] + time
    if time >= 0 {
      let later = times[position...].partitioningIndex { $0 > goal }
      move(to: max(position + 1, later - 1))
    } else {
      move(to: min(position - 1, max(0, times.partitioningIndex { $0 > goal } - 1)))
    }
  }

  /// Moves to the next step with a fact of that kind; returns false if there is none.
  package mutating func moveToNext(_ kind: ReplayFact.Kind) -> Bool {
    let current = position
    while !isAtEnd {
      advance()
      if does(kind, at: position - 1) { return true }
    }
    move(to: current)
    return false
  }

  /// Moves back to the previous step with a fact of that kind; returns false if there is none.
  package mutating func moveToPrevious(_ kind: ReplayFact.Kind) -> Bool {
    guard position > 1,
      let step = (0..<(position - 1)).last(where: { does(kind, at: $0) })
    else { return false }
    move(to: step + 1)
    return true
  }

  private func does(_ kind: ReplayFact.Kind, at step: Int) -> Bool {
    facts[step].contains { $0.kind == kind }
  }

  private mutating func advance() {
    let step = recording.steps[position]
    if facts.count == position { facts.append(ReplayFact.facts(of: step, before: model)) }
    if case .start(let start)? = step.entry { model = Model(start) }
    // The effects were performed during the recording, and their results were recorded as events.
    for event in step.events { _ = update(&model, with: event) }
    position += 1
    carriedOut += 1
    if position % interval == 0, snapshots.count == position / interval { snapshots.append(model) }
  }
}

/// Formats times since the beginning of a recording.
package enum ReplayClock {
  /// Minutes, seconds and milliseconds, such as `2:05.250`.
  package static func text(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    let fraction = (milliseconds % 1_000).digits(3)
    return "\(seconds / 60):\((seconds % 60).digits(2)).\(fraction)"
  }
}

/// The screens of a recording as text, for comparison with a text from a file.
package enum ReplayGolden {
  /// Writes every screen that differs from the previous one, each under a line that names its
  /// cause.
  ///
  /// - Throws: Any error of `write`.
  package static func write<Failure: Error>(
    _ recording: Recording,
    to write: (String) throws(Failure) -> Void
  ) throws(Failure) {
    var replay = Replay(recording)
    var shown: Screen?
    var facts: [ReplayFact] = []
    while true {
      facts += replay.lastFacts
      let screen = replay.screen
      if screen != shown {
        shown = screen
        let what = facts.map(\.text.string).joined(separator: "; ")
        facts = []
        let heading = "\(replay.position) at \(ReplayClock.text(replay.elapsed))"
        try write("--- \(heading)\(what.isEmpty ? "" : ": " + what)\n\(screen.text())\n")
      }
      if replay.isAtEnd { return }
      replay.move(by: 1)
    }
  }
}
