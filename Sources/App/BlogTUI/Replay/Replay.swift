/// One line of a recording: the passing of time, something that happened then, or both.
package struct RecordedStep: Equatable, Sendable {
  /// The time by the server's clock, in milliseconds since 1970, if it was told anew.
  package var time: Int64?
  /// What happened; nil when only time has passed.
  package var entry: RecordingEntry?

  /// Makes a step.
  package init(time: Int64? = nil, entry: RecordingEntry? = nil) {
    self.time = time
    self.entry = entry
  }

  /// The events of the step, in order.
  package var events: [Event] {
    let tick = time.map { [Event.tick(now: $0)] } ?? []
    guard case .event(let event)? = entry else { return tick }
    return tick + [event]
  }
}

/// A recording at one of its steps: forward by applying events, back by restoring snapshots.
///
/// A snapshot is kept every so many steps, so that stepping back replays only a few events.
package struct Replay: Sendable {
  /// What is replayed.
  package let recording: Recording
  /// The number of steps that have happened.
  package private(set) var position = 0
  /// The number of steps executed so far, including replayed ones.
  private(set) var carriedOut = 0
  /// What is on the screen then.
  package private(set) var model: Model

  /// The time of each position, which never goes back even where a clock did.
  private let times: [Int64]
  private let interval: Int
  private var snapshots: [Model]
  /// The facts of the steps executed so far, from the first step on without a gap.
  private var facts: [[ReplayFact]] = []

  /// Makes a replay before the first step.
  ///
  /// - Parameters:
  ///   - recording: What is replayed.
  ///   - interval: After how many steps the model is kept.
  package init(_ recording: Recording, interval: Int = 64) {
    self.recording = recording
    // A thousand snapshots are enough to make every step back quick.
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

  /// The number of steps.
  package var count: Int { recording.steps.count }
  /// Whether all steps have happened.
  package var isAtEnd: Bool { position == count }
  /// The milliseconds from the beginning to the present position.
  package var elapsed: Int64 { elapsed(at: position) }
  /// The milliseconds from the beginning to the end.
  package var duration: Int64 { elapsed(at: count) }
  /// The milliseconds from the beginning to a position.
  package func elapsed(at position: Int) -> Int64 { times[position] - times[0] }
  /// What the last step did.
  package var lastFacts: [ReplayFact] { position == 0 ? [] : facts[position - 1] }
  package var screen: Screen { view(model) }

  /// Goes to a position; beyond the ends is at the ends.
  ///
  /// - Complexity: O(steps forward); backward O(interval).
  package mutating func move(to target: Int) {
    let target = max(0, min(target, count))
    if target < position {
      let snapshot = target / interval
      model = snapshots[snapshot]
      position = snapshot * interval
    }
    while position < target { advance() }
  }

  /// Goes that many steps on, or back.
  package mutating func move(by steps: Int) { move(to: position + steps) }

  /// Goes on or back by a time.
  package mutating func move(byMilliseconds time: Int64) {
    let goal = times[position] + time
    if time >= 0 {
      let later = times[position...].partitioningIndex { $0 > goal }
      move(to: max(position + 1, later - 1))
    } else {
      move(to: min(position - 1, max(0, times.partitioningIndex { $0 > goal } - 1)))
    }
  }

  /// Goes on to the next step that does a thing of one of these kinds; false if there is none.
  package mutating func moveToNext(_ kinds: Set<ReplayFact.Kind>) -> Bool {
    let current = position
    while !isAtEnd {
      advance()
      if does(kinds, at: position - 1) { return true }
    }
    move(to: current)
    return false
  }

  /// Goes back to the step before that does a thing of one of these kinds; false if there is none.
  package mutating func moveToPrevious(_ kinds: Set<ReplayFact.Kind>) -> Bool {
    guard position > 1,
      let step = (0..<(position - 1)).last(where: { does(kinds, at: $0) })
    else { return false }
    move(to: step + 1)
    return true
  }

  private func does(_ kinds: Set<ReplayFact.Kind>, at step: Int) -> Bool {
    facts[step].contains { kinds.contains($0.kind) }
  }

  private mutating func advance() {
    let step = recording.steps[position]
    if facts.count == position { facts.append(ReplayFact.facts(of: step, before: model)) }
    if case .start(let start)? = step.entry { model = Model(start) }
    // The effects were performed during the recording, and their results were recorded too.
    for event in step.events { _ = update(&model, with: event) }
    position += 1
    carriedOut += 1
    if position % interval == 0, snapshots.count == position / interval { snapshots.append(model) }
  }
}

extension RandomAccessCollection {
  /// The first index of what satisfies a condition that everything behind it satisfies too.
  ///
  /// - Complexity: O(log n)
  fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
    var low = startIndex
    var length = count
    while length > 0 {
      let half = length / 2
      let middle = index(low, offsetBy: half)
      if isBehind(self[middle]) {
        length = half
      } else {
        low = index(after: middle)
        length -= half + 1
      }
    }
    return low
  }
}

/// A time since the beginning of a recording in words.
package enum ReplayClock {
  /// Minutes, seconds and milliseconds, such as `2:05.250`.
  package static func text(_ milliseconds: Int64) -> String {
    let seconds = milliseconds / 1_000
    return "\(seconds / 60):\(padded(seconds % 60, to: 2)).\(padded(milliseconds % 1_000, to: 3))"
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

/// The screens of a recording as text, which a test compares with a text kept in a file.
package enum ReplayGolden {
  /// Returns every screen that differs from the previous one, each headed by a line naming its
  /// cause.
  ///
  /// - Throws: What `write` throws.
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
