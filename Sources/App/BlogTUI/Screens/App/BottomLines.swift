import BlogModel

/// Draws on a screen with the usual frame: that of the app, or that of signing in.
protocol FramePainter {
  associatedtype Target: Sendable

  var frame: Frame { get }
  var theme: Theme { get }
  var glyphs: GlyphSet { get }
  var screen: Screen { get set }
  /// Where each clickable part was drawn.
  var hits: HitMap<Target> { get set }
}

extension FramePainter {
  /// Puts a text into a row, cut off with the ellipsis of the glyphs; returns the width used.
  @discardableResult
  mutating func put(
    _ text: SafeText,
    in rect: Rect,
    style: Style,
    aligned alignment: Alignment = .leading
  ) -> Int {
    screen.put(text, in: rect, style: style, aligned: alignment, ellipsis: glyphs.ellipsis)
  }

  /// Says that the screen has no room for the frame.
  mutating func paintTooSmall() {
    let text: SafeText = "Too small: need 20x6"
    screen.put(lines: text.wrapped(width: screen.size.width), in: screen.bounds)
  }

  /// Paints lines at the bottom; all but the last cover the content.
  mutating func paintLines(_ lines: [SafeText], style: Style) {
    for (index, line) in lines.enumerated() {
      let row = frame.footer.cut(top: index + 1 - lines.count).line(0)
      screen.fill(row, style: style)
      put(line, in: row.inset(rows: 0, columns: 1), style: style)
      hits.cover(row)
    }
  }

  /// Paints what keys do, as far as there is room.
  mutating func paintHints(_ hints: [(key: SafeText, name: SafeText, target: Target)]) {
    var room = frame.footer.cut(left: 1)
    for (key, name, target) in hints {
      let width = key.width + 1 + name.width
      guard width <= room.width else { continue }
      screen.put(key, at: room.origin, style: theme.key, clip: frame.footer)
      let label = room.cut(left: key.width + 1).origin
      screen.put(name, at: label, style: theme.dim, clip: frame.footer)
      hits.add(target, at: room.with(width: width))
      room = room.cut(left: width + 2)
    }
  }
}

extension Painter {
  /// Paints a line that is typed into the footer, after a label.
  ///
  /// `rest` is how many columns after it belong to something else.
  mutating func paintLine(
    _ field: TextField,
    of type: any AppScreen.Type,
    after label: SafeText,
    leaving rest: Int = 0,
    placeholder: SafeText,
    isFocused: Bool = true
  ) {
    let room = frame.footer.cut(left: label.width, right: rest)
    screen.put(label, at: frame.footer.origin, style: theme.key, clip: frame.footer)
    hits.add(.field(of: type), at: room)
    field.draw(on: &screen, in: room, placeholder: placeholder, isFocused: isFocused)
  }

  /// Paints the most urgent of these: a question, pending keys, a message, typed text, hints.
  mutating func paintFooter() {
    let front = model.stack.front
    if type(of: front).layer == .question {
      front.drawFooter(on: &self)
    } else if !session.keys.pendingKeys.isEmpty {
      paintPendingKeys()
    } else if let message = session.message {
      paintText(message.text, style: message.kind == .failure ? theme.failure : theme.note)
    } else {
      front.drawFooter(on: &self)
    }
  }

  /// Paints a text that may be taller than the footer: it grows upwards, over the content.
  mutating func paintText(_ text: SafeText, style: Style) {
    let width = frame.footer.width - 2
    let all = text.wrapped(width: width)
    let height = min(all.count, footerLimit)
    var lines = Array(all.prefix(height))
    if all.count > height, let last = lines.popLast() { lines.append(last + glyphs.ellipsis) }
    paintLines(lines, style: style)
  }

  var footerLimit: Int { max(1, min(5, session.size.height / 2)) }

  static func count(_ number: Int, one: SafeText, many: SafeText) -> SafeText {
    SafeText(number) + " " + (number == 1 ? one : many)
  }

  /// Paints the first keys of a sequence, and what can follow them.
  private mutating func paintPendingKeys() {
    let typed = session.keys.pendingKeys.map(\.description).joined(separator: " ")
    var text = SafeText(untrusted: typed) + " " + glyphs.ellipsis
    for (keys, binding) in session.keys.continuations(in: model.context) {
      let rest = keys.map(\.description).joined(separator: " ")
      text = text + "  " + SafeText(untrusted: rest) + " " + binding.help
    }
    put(text, in: frame.footer.inset(rows: 0, columns: 1), style: theme.key)
  }

  /// Paints what the keys do in the current context, as far as there is room.
  mutating func paintHints() {
    let context = model.context
    let hints = (ActionTable.hints[context] ?? []).compactMap {
      action,
      name -> (SafeText, SafeText, ClickTarget)? in
      // While text is typed, the applicable actions change with each letter; the hints would
      // flicker.
      guard context.isTyping || model.applies(action, in: context) else { return nil }
      // The way to help always stays visible, whatever key bindings the configuration removed.
      let key = session.keys.keyText(for: action, in: context)
      return (key ?? (action == .help ? ":help" : nil)).map { ($0, name, .action(action)) }
    }
    paintHints(hints)
  }
}

extension Painter {
  /// Paints the user and the database on the left, and the state of the connection on the right.
  mutating func paintStatus() {
    let row = frame.status
    let gap = isNarrow ? 1 : 2
    var right = facts(row.width)
    let drafts = session.writing.unsent.items.count
    if drafts > 0, !isNarrow {
      let text = SafeText(drafts) + (drafts == 1 ? " draft" : " drafts")
      right.insert((text, theme.waiting), at: 0)
    }
    // The message about it is gone with the next key.
    if session.writing.keepProblem != nil { right.insert(("not saved", theme.bad), at: 0) }
    if session.connection.isWithoutAccount, row.width >= 40 {
      let key = SafeText(untrusted: session.key("account"))
      let text = isNarrow ? "no account" : "no account: " + key + " signs in"
      right.insert((text, theme.waiting), at: 0)
    }
    if session.writing.pendingWrites > 0 {
      let count = SafeText(session.writing.pendingWrites)
      let text = isNarrow ? glyphs.pending + count : count + " not acknowledged"
      right.append((text, theme.waiting))
    }
    // The user's name is shown as well, if only shortened, unless there is hardly any room.
    let name = SafeText(untrusted: session.me.name, limit: SafeText.nameLimit).width
    let identity = row.width < 30 ? 0 : min(name, isNarrow ? 6 : 12) + gap
    let taken = right.reduce(identity) { $0 + $1.0.width + gap }
    right.append(connectionText(in: row.width - (row.width < 30 ? 1 : 2) - taken))
    let width = right.reduce(gap * (right.count - 1)) { $0 + $1.0.width }
    var column = max(row.column + 1, row.endColumn - 1 - width)
    let limit = column - row.column - 1 - gap
    for (text, style) in right {
      screen.put(text, at: Position(row: row.row, column: column), style: style, clip: row)
      column += text.width + gap
    }
    paintIdentity(in: row.cut(left: 1).with(width: limit))
  }

  /// The number of people online, the age of the last event, and the latency.
  private func facts(_ width: Int) -> [(SafeText, Style)] {
    var facts: [(SafeText, Style)] = []
    let people = Set(session.reading.company.people.map(\.person.uid)).count
    if width >= 80, people > 1 { facts.append((SafeText(people) + " here", theme.dim)) }
    if width >= 100, let last = session.connection.lastEventAt {
      let age = Age.text(last, now: session.now)
      facts.append(("last event " + (age == "now" ? age : age + " ago"), theme.dim))
    }
    let isHeard = session.connection.state == .online && session.connection.silence == nil
    if width >= 60, isHeard, let milliseconds = session.connection.roundTrip {
      facts.append((milliseconds < 1 ? "< 1 ms" : SafeText(milliseconds) + " ms", theme.dim))
    }
    return facts
  }

  private mutating func paintIdentity(in rect: Rect) {
    let name = SafeText(untrusted: session.me.name, limit: SafeText.nameLimit)
    let used = put(name, in: rect, style: theme.key)
    let database = SafeText(untrusted: session.connection.databaseName, limit: 200)
    let room = rect.cut(left: used)
    let text = separator + database
    guard room.width >= min(text.width, 12) else { return }
    put(text, in: room, style: theme.dim)
  }
}

// MARK: The connection

extension Painter {
  /// The state of the connection in as many words as there is room for.
  private func connectionText(in room: Int) -> (SafeText, Style) {
    let (glyph, style, texts) = connectionWords
    let all = texts.map { glyph + " " + $0 }
    return (all.first { $0.width <= room } ?? all.last ?? glyph, style)
  }

  /// The symbol of the connection, its style, and the possible texts, longest first.
  private var connectionWords: (SafeText, Style, [SafeText]) {
    if let seconds = connection.silentSeconds(at: session.now), !connection.isCutOff {
      return silenceWords(seconds)
    }
    switch connection.state {
    case .online: return (glyphs.online, theme.good, ["online"])
    case .connecting where connection.problem == nil:
      let text: SafeText = "connecting"
      return (glyphs.pending, theme.waiting, [isNarrow ? text : text + glyphs.ellipsis, text])
    case .connecting: return (glyphs.offline, theme.bad, outageWords(retry: nil))
    case .offline:
      let retry = connection.secondsUntilRetry(at: session.now)
      return (glyphs.offline, theme.bad, outageWords(retry: retry))
    }
  }

  private var connection: ServerConnection { session.connection }
  private var isNarrow: Bool { frame.status.width < 60 }

  /// The text for a server that does not answer: at first a warning; after a while it counts as
  /// offline.
  private func silenceWords(_ seconds: Int) -> (SafeText, Style, [SafeText]) {
    let count = SafeText(seconds) + " s"
    guard Int64(seconds) * 1_000 >= Silence.patience else {
      return (
        glyphs.unsure, theme.waiting, ["no answer for " + count, "no answer " + count, count]
      )
    }
    let text: SafeText = "no answer for " + count
    let address = connection.silence.map { SafeText(untrusted: $0.address, limit: 200) } ?? .empty
    return (
      glyphs.offline, theme.bad,
      [
        "offline: no answer from " + address + " for " + count, "offline: " + text,
        "offline " + count, "offline",
      ]
    )
  }

  private func outageWords(retry: Int?) -> [SafeText] {
    if connection.isCutOff { return ["offline by :net off", "offline"] }
    let seconds = retry.flatMap { $0 > 0 ? SafeText($0) : nil }
    let long: SafeText = seconds.map { "next try in " + $0 + " s" } ?? "trying now"
    let short: SafeText = seconds.map { " " + $0 + "s" } ?? .empty
    let offline: [SafeText] = ["offline, " + long, "offline" + short, "offline"]
    guard let problem = connection.problem else { return offline }
    let reason = SafeText(untrusted: Model.clause(problem.reason), limit: 400)
    if problem.isPermanent {
      if isNarrow { return offline.suffix(2) }
      let room = max(20, frame.status.width / 2)
      return [reason.truncated(to: room, ellipsis: glyphs.ellipsis)] + offline.suffix(2)
    }
    guard let cause = problem.cause.map({ SafeText(untrusted: $0, limit: 100) }) else {
      return [reason + "; " + long] + offline
    }
    let address = problem.address.map { SafeText(untrusted: $0, limit: 200) } ?? .empty
    return [
      reason + "; " + long, cause + ", " + address + "; " + long, cause + "; " + long,
      cause + "," + (seconds == nil ? " trying" : short), cause,
    ] + offline.suffix(2)
  }
}
