import BlogModel

extension Painter {
  /// Who I am and which database at the left; at the right what is true of the connection.
  mutating func paintStatus() {
    let row = frame.status
    let isNarrow = row.width < 60
    var right = connectionText(isNarrow: isNarrow)
    if session.pendingWrites > 0 {
      let count = SafeText(session.pendingWrites)
      let text = isNarrow ? glyphs.pending + count : count + " not acknowledged"
      right.insert((text, theme.waiting), at: 0)
    }
    right.insert(contentsOf: facts(row.width), at: 0)
    let drafts = session.drafts.count + session.commentDrafts.values.reduce(0) { $0 + $1.count }
    if drafts > 0, !isNarrow {
      let text = SafeText(drafts) + (drafts == 1 ? " draft" : " drafts")
      right.insert((text, theme.waiting), at: 0)
    }
    let gap = isNarrow ? 1 : 2
    let width = right.reduce(gap * (right.count - 1)) { $0 + $1.0.width }
    var column = max(row.column + 1, row.endColumn - 1 - width)
    let limit = column - row.column - 1 - gap
    for (text, style) in right {
      screen.put(text, at: Position(row: row.row, column: column), style: style, clip: row)
      column += text.width + gap
    }
    paintIdentity(in: Rect(row: row.row, column: row.column + 1, width: limit, height: row.height))
  }

  /// Who is here, when the server told something last, and how long it takes to answer.
  private func facts(_ width: Int) -> [(SafeText, Style)] {
    var facts: [(SafeText, Style)] = []
    if width >= 80, session.reading.people.count > 1 {
      facts.append((SafeText(session.reading.people.count) + " here", theme.dim))
    }
    if width >= 100, let last = session.reading.lastEventAt {
      let age = Age.text(last, now: session.now)
      facts.append(("last event " + (age == "now" ? age : age + " ago"), theme.dim))
    }
    if width >= 60, session.connection == .online, let milliseconds = session.reading.roundTrip {
      facts.append((milliseconds < 1 ? "< 1 ms" : SafeText(milliseconds) + " ms", theme.dim))
    }
    return facts
  }

  private mutating func paintIdentity(in rect: Rect) {
    let name = SafeText(untrusted: session.me.name, limit: SafeText.nameLimit)
    let used = screen.put(name, in: rect, style: theme.key, ellipsis: glyphs.ellipsis)
    let database = SafeText(untrusted: session.databaseName, limit: 200)
    let room = Rect(
      row: rect.row,
      column: rect.column + used,
      width: rect.width - used,
      height: rect.height
    )
    let text = separator + database
    guard room.width >= min(text.width, 12) else { return }
    screen.put(text, in: room, style: theme.dim, ellipsis: glyphs.ellipsis)
  }

  private func connectionText(isNarrow: Bool) -> [(SafeText, Style)] {
    if session.connection != .online, let problem = session.connectionProblem, !isNarrow {
      let text = SafeText(untrusted: Model.clause(problem))
      let room = max(20, frame.status.width / 2)
      return [
        (glyphs.offline + " " + text.truncated(to: room, ellipsis: glyphs.ellipsis), theme.bad)
      ]
    }
    switch session.connection {
    case .online:
      return [(glyphs.online + " online", theme.good)]
    case .connecting:
      let text: SafeText = isNarrow ? " connecting" : " connecting" + glyphs.ellipsis
      return [(glyphs.pending + text, theme.waiting)]
    case .offline:
      let text = glyphs.offline + " offline"
      if session.isCutOff { return [(isNarrow ? text : text + " by :net off", theme.bad)] }
      guard let seconds = session.secondsUntilRetry, seconds > 0 else {
        return [(isNarrow ? text : text + ", trying now", theme.bad)]
      }
      let count = SafeText(seconds)
      let retry = isNarrow ? " " + count + "s" : ", next try in " + count + " s"
      return [(text + retry, theme.bad)]
    }
  }
}
