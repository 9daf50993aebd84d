/// A part of the sign-in screens that can be clicked.
enum SignInPart: Hashable {
  case choice(SignIn.Choice)
  case field(Int)
  /// A hint that shows what a key does.
  case key(KeyEvent)
}

extension SignIn {
  package func view() -> Screen {
    var painter = SignInPainter(self)
    painter.paint()
    return painter.screen
  }
}

/// Draws the sign-in screens part by part.
struct SignInPainter: FramePainter {
  private let signIn: SignIn
  let frame: Frame
  var screen: Screen
  var hits = HitMap<SignInPart>()

  var theme: Theme { signIn.theme }
  var glyphs: GlyphSet { signIn.glyphs }

  init(_ signIn: SignIn) {
    self.signIn = signIn
    frame = Frame(signIn.size)
    screen = Screen(size: signIn.size)
  }

  mutating func paint() {
    guard Frame.isLargeEnough(signIn.size) else { return paintTooSmall() }
    put(" " + heading + " ", in: frame.header, style: theme.brand)
    screen.horizontalLine(in: frame.upperRule, glyphs: glyphs, style: theme.rule)
    screen.horizontalLine(in: frame.lowerRule, glyphs: glyphs, style: theme.rule)
    if let form = signIn.form { paint(form) } else { paintChoices() }
    paintFooter()
    let name = SafeText(untrusted: signIn.databaseName, limit: 200)
    put(" " + name, in: frame.status, style: theme.dim)
  }

  private var heading: SafeText {
    switch signIn.form?.kind {
    case nil: "Who are you?"
    case .signIn: "Sign in"
    case .signUp: "Make an account"
    case .forgotten, .newPassword: "Set a new password"
    case .userName: "Your name in this blog"
    }
  }

  private mutating func paintChoices() {
    for row in signIn.list.rows(in: frame.page) {
      if row.isSelected {
        screen.fill(row.rect, style: theme.selected)
        screen.cursor = row.rect.origin
      }
      let text = (row.isSelected ? glyphs.selection : " ") + " " + signIn.title(of: row.id)
      let style = theme.style(.plain, isSelected: row.isSelected)
      put(text, in: row.rect, style: style)
      hits.add(.choice(row.id), at: row.rect)
    }
  }

  private mutating func paint(_ form: SignInForm) {
    let isSpaced = frame.page.height >= 2 * form.fields.count
    let step = isSpaced ? 2 : 1
    // On a screen with few rows, the form scrolls to keep the focused field in view.
    let first = max(0, form.focus * step + 1 - frame.page.height)
    for (index, field) in form.fields.enumerated() {
      let row = frame.page.row + index * step - first
      guard row >= frame.page.row, row < frame.page.endRow else { continue }
      let line = Rect(row: row, column: frame.page.column, width: frame.page.width, height: 1)
      let room = paint(field, of: form, in: line, isFocused: index == form.focus)
      hits.add(.field(index), at: line)
      hits.add(.field(index), at: room)
    }
  }

  /// Paints a field with its label; returns the rectangle of the text.
  private mutating func paint(
    _ field: SignInForm.Field,
    of form: SignInForm,
    in line: Rect,
    isFocused: Bool
  ) -> Rect {
    let label = line.with(width: SignInForm.labelWidth - 2)
    let edge = Position(row: line.row, column: label.endColumn)
    let room = line.cut(left: SignInForm.labelWidth)
    let style = isFocused ? theme.key : theme.dim
    put(field.item.label(form.kind), in: label, style: style)
    let mark = isFocused ? glyphs.selection : glyphs.vertical
    screen.put(mark, at: edge, style: isFocused ? theme.selectedBorder : theme.border, clip: line)
    let text = field.item.isSecret ? hidden(field.text, width: room.width) : field.text
    text.draw(
      on: &screen,
      in: room,
      style: theme.text,
      isFocused: isFocused && signIn.activity == nil
    )
    return room
  }

  /// A field with the same length and cursor position, whose characters are masked.
  private func hidden(_ field: TextField, width: Int) -> TextField {
    let count = field.text.count
    let sign = glyphs.repertoire == .ascii ? "*" : "•"
    var hidden = TextField(text: String(repeating: sign, count: count), limit: field.limit)
    hidden.resize(to: Size(width: max(1, width), height: 1))
    for _ in field.cursor..<max(field.cursor, count) { _ = hidden.handle(.left) }
    return hidden
  }

  private mutating func paintFooter() {
    let room = frame.footer.inset(rows: 0, columns: 1)
    if let activity = signIn.activity {
      screen.put(activity + glyphs.ellipsis, in: room, style: theme.waiting)
    } else if let message = signIn.message {
      let lines = message.text.wrapped(width: room.width).prefix(4)
      paintLines(Array(lines), style: message.kind == .failure ? theme.failure : theme.note)
    } else {
      paintHints(hints.map { (SafeText(untrusted: $0.description), $1, .key($0)) })
    }
  }

  private var hints: [(KeyEvent, SafeText)] {
    guard signIn.form == nil else {
      return [
        (.enter, "go on"), (.escape, "back"), (.tab, "next field"), (.control("c"), "quit"),
      ]
    }
    let isAccount = if case .account? = signIn.list.selection { true } else { false }
    let signOut: [(KeyEvent, SafeText)] = isAccount ? [(.character("x"), "sign out")] : []
    let leave: (KeyEvent, SafeText) =
      signIn.canGoBack ? (.escape, "back") : (.character("q"), "quit")
    return [(.enter, "choose"), leave] + signOut
  }
}
