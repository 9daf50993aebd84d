/// The screens of a recording as text, which a test compares with a text kept in a file.
package enum ReplayGolden {
  /// Gives out every screen that differs from the one before, below a line that says how it came.
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
