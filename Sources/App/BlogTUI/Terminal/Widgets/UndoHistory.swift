/// What an editor can go back to: the states before each step, and those that were taken back.
///
/// Steps of the same kind join, so that a word comes and goes as one.
struct UndoHistory<State: Hashable & Sendable>: Hashable, Sendable {
  /// The number of steps that are kept.
  static var limit: Int { 200 }

  private var past: [State] = []
  private var future: [State] = []
  private var latest: EditStep?

  /// Notes the state before a step.
  mutating func record(_ state: State, _ kind: EditStep) {
    defer { latest = kind }
    future = []
    // A word joins the blanks before it: taking it back leaves the line as it was before both.
    let follows = latest == kind || (latest == .separator && kind == .letter)
    guard !follows || kind == .whole || past.isEmpty else { return }
    past.append(state)
    if past.count > Self.limit { past.removeFirst() }
  }

  /// The cursor went elsewhere: the next step does not join the one before.
  mutating func interrupt() {
    latest = nil
  }

  /// The state before the latest step; nil when there is none.
  mutating func undo(from state: State) -> State? {
    guard let before = past.popLast() else { return nil }
    future.append(state)
    latest = nil
    return before
  }

  /// The state that was taken back last; nil when there is none.
  mutating func redo(from state: State) -> State? {
    guard let after = future.popLast() else { return nil }
    past.append(state)
    latest = nil
    return after
  }
}
