/// A replay under the user's control: the recorded screen with a time scrubber below it.
///
/// States: paused ⇄ playing at one of the speeds. It pauses at the end.
package struct ReplayPlayer: Sendable {
  /// The speeds, as multiples of real time.
  static let speeds: [Int64] = [1, 4, 16]
  /// The longest pause during playback, in milliseconds; longer pauses are shortened.
  static let longestPause: Int64 = 2_000

  package private(set) var replay: Replay
  package private(set) var size: Size
  package private(set) var isPlaying = false
  /// The current speed, as a multiple of real time.
  package private(set) var speed: Int64 = 1
  /// A message that is shown until the next key.
  package private(set) var notice: SafeText?
  /// Whether the user has left.
  package private(set) var hasEnded = false
  private let glyphs: GlyphSet

  /// Makes a player, paused at the beginning.
  package init(_ recording: Recording, size: Size, glyphs: GlyphSet = .unicode) {
    replay = Replay(recording)
    self.size = size
    self.glyphs = glyphs
    if recording.isTorn { notice = "The last line of the recording was cut off, and is left out." }
  }

  /// How long the screen stays unchanged; nil means forever.
  package var pause: Duration? {
    guard isPlaying, !replay.isAtEnd else { return nil }
    let time = replay.elapsed(at: replay.position + 1) - replay.elapsed
    return .milliseconds(min(time, Self.longestPause) / speed)
  }

  /// Advances the replay; called when the ``pause`` is over.
  package mutating func play() {
    guard isPlaying else { return }
    repeat { replay.move(by: 1) } while !replay.isAtEnd && pause == .zero
    if replay.isAtEnd { isPlaying = false }
  }

  package mutating func handle(_ key: KeyEvent) {
    let before = notice
    notice = nil
    switch key {
    case .resize(let new):
      size = new
      notice = before
    case .character("]"), .right: step(by: 1)
    case .character("["), .left: step(by: -1)
    case .character("}"), .pageDown: replay.move(byMilliseconds: 60_000)
    case .character("{"), .pageUp: replay.move(byMilliseconds: -60_000)
    case .home, .character("g"): replay.move(to: 0)
    case .end, .character("G"): replay.move(to: replay.count)
    case .character(" "):
      if replay.isAtEnd { replay.move(to: 0) }
      isPlaying.toggle()
    case .character("f"):
      let index = Self.speeds.firstIndex(of: speed) ?? 0
      speed = Self.speeds[(index + 1) % Self.speeds.count]
    case .character("q"), .escape, .control("c"): hasEnded = true
    case .character(let letter): if !jump(letter) { notice = before }
    default: notice = before
    }
    if replay.isAtEnd { isPlaying = false }
  }

  private mutating func step(by count: Int) {
    isPlaying = false
    replay.move(by: count)
  }

  /// Jumps to the next fact of the kind that a letter stands for, or with its capital to the
  /// previous one; returns false if the letter stands for none.
  private mutating func jump(_ letter: Character) -> Bool {
    let kinds: [Character: ReplayFact.Kind] = [
      "k": .key, "p": .post, "s": .star, "c": .comment, "w": .people, "o": .connection,
      "x": .refusal,
    ]
    guard let kind = letter.lowercased().first.flatMap({ kinds[$0] }) else { return false }
    isPlaying = false
    if kinds[letter] != nil {
      if !replay.moveToNext(kind) { notice = "No more of that kind." }
    } else if !replay.moveToPrevious(kind) {
      notice = "None of that kind before."
    }
    return true
  }
}

extension ReplayPlayer {
  /// The number of rows below the recorded screen.
  static let rows = 3

  /// Draws the recorded screen, the scrubber, and who did what.
  package func view() -> Screen {
    var screen = Screen(size: size)
    let recorded = replay.screen
    let theme = replay.model.theme
    let height = max(0, size.height - Self.rows)
    screen.put(recorded, in: Rect(row: 0, column: 0, width: size.width, height: height))
    let top = min(height, recorded.size.height)
    paintScrubber(on: &screen, row: top, theme)
    let facts = replay.lastFacts.map(\.text).joined(separator: " " + glyphs.separator + " ")
    let what = notice ?? (replay.position == 0 ? "The beginning." : facts)
    let line = Rect(row: top + 1, column: 1, width: size.width - 2, height: 1)
    screen.put(what, in: line, style: theme.notice, ellipsis: glyphs.ellipsis)
    let hints = Rect(row: top + 2, column: 1, width: size.width - 2, height: 1)
    screen.put(Self.hints, in: hints, style: theme.dim, ellipsis: glyphs.ellipsis)
    return screen
  }

  private static let hints: SafeText =
    "[ ] step  { } minute  Home End  Space play  f speed  p s c k o w x next, capitals back  q quit"

  /// Paints a line that represents the whole recording, with a thumb at the current position.
  private func paintScrubber(on screen: inout Screen, row: Int, _ theme: Theme) {
    let sign: SafeText = isPlaying ? glyphs.right : (glyphs.repertoire == .ascii ? "=" : "‖")
    let facts: SafeText =
      " " + SafeText(replay.position) + "/" + SafeText(replay.count) + "  "
      + SafeText(untrusted: ReplayClock.text(replay.elapsed)) + "  " + sign + " x"
      + SafeText(Int(speed)) + " "
    let line = Rect(row: row, column: 0, width: size.width, height: 1)
    screen.horizontalLine(in: line, glyphs: glyphs, style: theme.rule)
    screen.put(facts, in: line, style: theme.key, aligned: .leading)
    let track = line.cut(left: facts.width, right: 1)
    guard track.width > 1, let thumb = glyphs.scrollThumb.clusters.first else { return }
    let share = replay.duration > 0 ? Double(replay.elapsed) / Double(replay.duration) : 0
    let even = replay.count > 0 ? Double(replay.position) / Double(replay.count) : 0
    // A script's clock may stand still; the steps then determine the position.
    let fraction = replay.duration > 0 ? share : even
    let column = track.column + Int(fraction * Double(track.width - 1))
    screen.fill(
      Rect(row: row, column: column, width: 1, height: 1),
      with: thumb,
      style: theme.key
    )
  }
}

/// The loop that connects a terminal and a replay, until the user leaves.
@MainActor
package final class ReplayProgram<Terminal: TerminalDevice> {
  private let terminal: Terminal
  private var player: ReplayPlayer

  package init(terminal: Terminal, recording: Recording) {
    self.terminal = terminal
    player = ReplayPlayer(recording, size: terminal.size, glyphs: terminal.glyphs)
  }

  /// Runs until the user leaves or the terminal is gone, and returns which; blocks the caller.
  package func run() -> Ending {
    while true {
      terminal.render(player.view())
      let events = terminal.nextEvents(timeout: player.pause)
      if events.isEmpty { player.play() }
      for event in events {
        if let ending = handle(event) { return ending }
      }
    }
  }

  private func handle(_ event: TerminalEvent) -> Ending? {
    switch event {
    case .key(.control("z")): terminal.suspend()
    case .key(.control("l")), .resumed: terminal.redraw()
    case .key(let key): player.handle(key)
    case .escaped(let key): for key in [.escape, key] { player.handle(key) }
    case .woken, .unreadable: break
    case .hangUp: return .hangUp
    case .terminate(let signal): return .terminated(signal: signal)
    }
    return player.hasEnded ? .quit : nil
  }
}
