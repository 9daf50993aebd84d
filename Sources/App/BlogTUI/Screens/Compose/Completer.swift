import BlogModel

/// Completes names, tags and emoji at the cursor of a text.
///
/// States: idle → offering ⇄ without a match; Esc closes it until another word begins, and any key
/// that writes nothing makes it idle.
struct Completer: Hashable, Sendable {
  enum Kind: Character, Hashable, Sendable {
    case name = "@"
    case tag = "#"
    case emoji = ":"
  }

  /// What may complete a word.
  struct Item: Hashable, Sendable {
    /// What the typed letters are compared with.
    let key: String
    /// What is offered.
    let title: SafeText
    /// What is put in the place of the word and its sign.
    let text: String
  }

  enum Input {
    case key(KeyEvent)
    case item(Int)
  }

  /// The largest number of items that are offered.
  static let limit = 6

  /// The items that fit the typed letters, best first; empty while nothing is offered.
  private(set) var items: [Item] = []
  /// The index of the item that is taken.
  private(set) var selected = 0
  private var word: Word?
  private var known: [Item] = []
  private var isChosen = false
  private var isClosed = false

  /// The number of cells between the word's sign and the cursor.
  var width: Int { word.map { TextWidth.width(of: $0.typed) + 1 } ?? 0 }

  /// Takes or changes what is offered, or leaves the key to the text.
  ///
  /// Tab takes an item. Enter does so only if one was chosen before, since otherwise it ends a line.
  mutating func handle(_ input: Input, in text: inout TextArea) -> EditOutcome? {
    guard case .key(let key) = input else {
      guard case .item(let index) = input else { return nil }
      return take(index, in: &text)
    }
    if !items.isEmpty {
      switch key {
      case .tab: return take(selected, in: &text)
      case .enter where isChosen: return take(selected, in: &text)
      case .character(":") where word?.kind == .emoji:
        if let exact = items.firstIndex(where: { $0.key == word?.typed }) {
          return take(exact, in: &text)
        }
      case .down, .control("n"): return choose(1)
      case .up, .control("p"): return choose(-1)
      case .escape:
        items = []
        isClosed = true
        return .moved
      default: break
      }
    }
    if !Self.writes(key) { self = Completer() }
    return nil
  }

  /// Follows what a key has done to the text.
  ///
  /// If a word has begun, returns what to look for; ``offer(_:)`` takes the answer.
  mutating func follow(_ key: KeyEvent, in text: TextArea) -> Kind? {
    guard Self.writes(key), let new = Word(before: text.cursor, of: text.lines) else {
      self = Completer()
      return nil
    }
    guard let word, word.kind == new.kind, word.start == new.start else {
      self = Completer()
      if case .character = key, !new.isCode(in: text.lines) {
        word = new
        return new.kind
      }
      return nil
    }
    self.word = new
    filter()
    return nil
  }

  /// Offers the items that fit.
  mutating func offer(_ items: [Item]) {
    known = items
    filter()
  }

  private static func writes(_ key: KeyEvent) -> Bool {
    switch key {
    case .character, .backspace, .control("h"): true
    default: false
    }
  }

  private mutating func choose(_ step: Int) -> EditOutcome {
    selected = (selected + step + items.count) % items.count
    isChosen = true
    return .moved
  }

  private mutating func take(_ index: Int, in text: inout TextArea) -> EditOutcome? {
    defer { self = Completer() }
    guard let word, word == Word(before: text.cursor, of: text.lines), items.indices.contains(index)
    else { return nil }
    text.replace(from: word.start.column, with: items[index].text)
    return .changed
  }

  /// Those that begin with the letters come first, in the order in which they are known.
  private mutating func filter() {
    items = []
    selected = 0
    isChosen = false
    guard let word, !isClosed else { return }
    let typed = word.typed.lowercased()
    let fitting = known.enumerated().compactMap { index, item -> (rank: Int, item: Item)? in
      if item.key == typed { return (.max, item) }
      if item.key.hasPrefix(typed) { return (.max - 1 - index, item) }
      guard typed.count > 1, let match = FuzzyMatch(typed, in: item.key) else { return nil }
      return (match.score, item)
    }
    items = fitting.sorted { $0.rank > $1.rank }.prefix(Self.limit).map(\.item)
    // What is there already needs no completion.
    if items.count == 1, items[0].text.lowercased() == String(word.kind.rawValue) + typed {
      items = []
    }
  }
}

extension Completer {
  /// A sign and the letters between it and the cursor.
  private struct Word: Hashable {
    let kind: Kind
    let start: TextArea.Location
    let typed: String

    /// Finds the word that ends at the cursor and has at least one letter.
    init?(before cursor: TextArea.Location, of lines: [[Character]]) {
      let line = lines[cursor.line]
      func isPart(_ character: Character) -> Bool {
        TextMarks.isPart(character) || character == "+"
      }
      var start = cursor.column
      let first = max(0, start - TextMarks.longest)
      while start > first, isPart(line[start - 1]) { start -= 1 }
      guard start > 0, start < cursor.column, let kind = Kind(rawValue: line[start - 1]),
        cursor.column == line.count || !isPart(line[cursor.column])
      else { return nil }
      let before = start > 1 ? line[start - 2] : nil
      // Two signs in a row are a path, a time or a smiley.
      guard TextMarks.canBegin(after: before), before != ":" else { return nil }
      self.kind = kind
      self.start = TextArea.Location(line: cursor.line, column: start - 1)
      typed = String(line[start..<cursor.column])
    }

    func isCode(in lines: [[Character]]) -> Bool {
      LightMarkdown.isCode(at: start.column, of: lines[start.line], after: lines[..<start.line])
    }
  }
}

extension Session {
  /// What may complete a word of that kind, the likeliest first.
  func completions(of kind: Completer.Kind, on open: OpenPost? = nil) -> [Completer.Item] {
    switch kind {
    case .name: knownPeople(on: open)
    case .tag: knownTags
    case .emoji: glyphs.repertoire == .unicode ? Emoji.all : []
    }
  }

  /// The people of the open post, those online, those who are followed, and the authors in view.
  private func knownPeople(on open: OpenPost?) -> [Completer.Item] {
    let commenters = (open?.comments.visible ?? []) + reading.comments.all
    var people = (open?.post).map { [$0.writer] } ?? []
    people += commenters.map(\.writer)
    people += reading.company.people.map(\.person)
    people += reading.lists.following.sorted().prefix(200).compactMap { uid in
      reading.names.name(of: uid).map { Author(uid: uid, name: $0) }
    }
    for feed in allFeeds {
      people += self[feed].posts.map(\.writer)
    }
    var seen: Set<String> = []
    return people.compactMap { person in
      guard person.uid != me.uid, !reading.lists.blocked.contains(person.uid),
        let key = TextMarks.key(ofName: person.name), seen.insert(key).inserted
      else { return nil }
      let isPlain = person.name.lowercased() == key
      var title = SafeText(untrusted: person.name, mode: .singleLine)
      if !isPlain { title = title + "  @" + SafeText(untrusted: key, mode: .singleLine) }
      return Completer.Item(key: key, title: title, text: "@" + (isPlain ? person.name : key))
    }
  }

  /// The tags of the posts in view, the most used first.
  private var knownTags: [Completer.Item] {
    var uses: [String: Int] = [:]
    var seen: Set<PostID> = []
    for feed in allFeeds {
      for post in self[feed].posts where seen.insert(post.id).inserted {
        for tag in TextMarks(of: post.title, post.body).tags { uses[tag, default: 0] += 1 }
      }
    }
    return uses.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { tag, _ in
      let text = "#" + tag
      return Completer.Item(
        key: tag,
        title: SafeText(untrusted: text, mode: .singleLine),
        text: text
      )
    }
  }
}

extension Painter {
  /// Paints what completes the word at the cursor, below it or, if there is more room, above it.
  mutating func paint(_ completer: Completer) {
    guard !completer.items.isEmpty, let cursor = screen.cursor else { return }
    var below = frame.footer.row - cursor.row - 1
    if max(below, cursor.row) < 3 { below = frame.status.row - cursor.row }
    let wanted = completer.items.count + 2
    let isBelow = below >= wanted || below >= cursor.row
    let height = min(wanted, max(3, isBelow ? below : cursor.row))
    let width = min(
      (completer.items.map(\.title.width).max() ?? 0) + 5,
      screen.size.width
    )
    let title: SafeText = "Tab"
    let box = Rect(
      row: isBelow ? cursor.row + 1 : max(0, cursor.row - height),
      column: max(0, min(cursor.column - completer.width - 2, screen.size.width - max(width, 9))),
      width: max(width, title.width + 6),
      height: height
    )
    hits.cover(box)
    screen.fill(box)
    screen.box(in: box, glyphs: glyphs, title: title, style: theme.selectedBorder)
    let list = box.inset(rows: 1, columns: 1)
    let first = max(0, completer.selected - list.height + 1)
    for (index, item) in completer.items.enumerated().dropFirst(first).prefix(list.height) {
      let row = list.line(index - first)
      let isSelected = index == completer.selected
      if isSelected {
        screen.fill(row, style: theme.selected)
        screen.put(
          glyphs.selection,
          at: row.origin,
          style: theme.style(theme.selectedBorder, isSelected: true)
        )
      }
      let room = row.cut(left: 2, right: 1)
      let style = theme.style(theme.text, isSelected: isSelected)
      put(item.title, in: room, style: style)
      hits.add(.completion(index), at: row)
    }
    screen.cursor = cursor
  }
}
