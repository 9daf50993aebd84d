package import BlogModel

/// What all screens share: the user, the connection, the clock, the lists of posts, what is read
/// and written, and how the screens look.
///
/// Screens read it, and their actions change it.
package struct Session: Sendable {
  package internal(set) var me: Author
  /// The time by the server's clock, in milliseconds since 1970.
  package internal(set) var now: Int64
  package internal(set) var connection: ServerConnection
  package internal(set) var feeds = Feeds()
  package internal(set) var reading = Reading()
  package internal(set) var writing: Writing
  package internal(set) var display: Display
  package private(set) var messages = MessageLog()
  var commands = CommandHistory()
  package internal(set) var inspector = Inspector()

  init(_ start: RecordingStart) {
    me = start.me
    now = start.now
    connection = ServerConnection(to: start.databaseName, since: now)
    writing = Writing(unsent: start.unsent)
    display = Display(size: start.size, terminalGlyphs: start.isASCII ? .ascii : .unicode)
    commands = CommandHistory(start.history)
    reading.names.learn(me)
  }

  package internal(set) subscript(feed: FeedKind) -> Feed {
    get { feeds[feed] }
    _modify { yield &feeds[feed] }
  }

  package internal(set) var feed: Feed {
    get { self[tab] }
    _modify { yield &self[tab] }
  }

  package var tab: FeedKind { feeds.tab }

  package internal(set) var search: Search? {
    get { feeds.search }
    _modify { yield &feeds.search }
  }

  /// All lists: the standard ones and, where they exist, those of the followed people, of an author
  /// and of a tag.
  var allFeeds: [FeedKind] { feeds.all(for: reading.lists) }

  /// The lists that are followed.
  package var followedFeeds: [FeedKind] { allFeeds.filter { self[$0].phase != .idle } }

  package internal(set) var message: Message? {
    get { messages.current }
    set { messages.show(newValue, at: now) }
  }

  /// Answers a key with a message and nothing else.
  mutating func answer(_ message: Message) -> [Effect] {
    self.message = message
    return []
  }

  /// Shows news that no key asked for, unless a failure is in view, which nobody may have read yet.
  mutating func tell(_ news: String) {
    if message?.kind == .failure { log(.note(news)) } else { message = .note(news) }
  }

  mutating func log(_ message: Message) { messages.add(message, at: now) }

  package var size: Size { display.size }
  package var glyphs: GlyphSet { display.glyphs }
  package var theme: Theme { display.theme }
  package var configuration: Configuration { display.configuration }

  package internal(set) var keys: KeyTable {
    get { display.keys }
    _modify { yield &display.keys }
  }

  /// What a message calls the way to an action: its first keys in the context, or else its command.
  func key(_ action: Action, in context: Context = .list) -> String {
    keys.keyText(for: action, in: context)?.string ?? ":" + action.name
  }

  package internal(set) var settings: Settings {
    get { display.configuration.settings }
    _modify { yield &display.configuration.settings }
  }
}

/// How the screens look, and what keys do.
package struct Display: Sendable {
  package internal(set) var size: Size
  /// The symbols that the terminal can show.
  package let terminalGlyphs: GlyphSet
  package internal(set) var configuration = Configuration()
  package internal(set) var theme = Theme.dark
  /// The key table and the first keys of a pending sequence.
  package internal(set) var keys = KeyTable.standard
  /// What `bind` has given keys to do, in that order.
  fileprivate var bound: [KeyOverride] = []

  /// The symbols that are drawn.
  var glyphs: GlyphSet { configuration.settings.isOn(.ascii) ? .ascii : terminalGlyphs }

  /// Adopts a new configuration with its keys, and returns its problems if they are news.
  mutating func adopt(_ new: Configuration) -> [ConfigurationProblem] {
    var next = new
    // Values that were chosen in this session and not saved remain.
    for setting in Setting.allCases
    where configuration.settings.origin(of: setting) == .session {
      next.settings.choose(configuration.settings[setting], for: setting, from: .session)
    }
    var problems = next.problems
    keys = next.keyTable(problems: &problems)
    next.problems = problems
    for wish in bound { _ = apply(wish) }
    let isNews = problems != configuration.problems
    configuration = next
    return isNews ? problems : []
  }

  /// Gives keys another meaning until the program ends; returns why it cannot be.
  mutating func bind(_ wish: KeyOverride) -> ConfigurationProblem? {
    let problem = apply(wish)
    if problem == nil { bound.append(wish) }
    return problem
  }

  private mutating func apply(_ wish: KeyOverride) -> ConfigurationProblem? {
    var problems: [ConfigurationProblem] = []
    keys = keys.applying([wish], source: "bind", problems: &problems)
    return problems.first
  }

  /// Chooses the styles that the settings say.
  mutating func updateTheme() {
    let chosen = configuration.theme
    theme = configuration.settings.word(.color) == "never" ? chosen.withoutColors : chosen
  }
}
