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
  /// The lists of posts, and the search that filters them.
  package internal(set) var feeds = Feeds()
  /// What readers see apart from the posts.
  package internal(set) var reading = Reading()
  /// What the user writes.
  package internal(set) var writing: Writing
  /// How the screens look, and what keys do.
  package internal(set) var display: Display
  package private(set) var messages = MessageLog()
  /// The commands that were run.
  var commands = CommandHistory()
  /// The traffic on the wire.
  package internal(set) var inspector = Inspector()

  /// Makes the state before anything is known.
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

  /// The list that is shown.
  package internal(set) var feed: Feed {
    get { self[tab] }
    _modify { yield &self[tab] }
  }

  /// The list in view, or behind the screens in front.
  package var tab: FeedKind { feeds.tab }

  /// The search that filters the lists.
  package internal(set) var search: Search? {
    get { feeds.search }
    _modify { yield &feeds.search }
  }

  /// All lists: the standard ones and, where they exist, those of the followed people, of an author
  /// and of a tag.
  var allFeeds: [FeedKind] { feeds.all(for: reading.lists) }

  /// The lists that are followed.
  package var followedFeeds: [FeedKind] { allFeeds.filter { self[$0].phase != .idle } }

  /// The message that is shown until the next key.
  package internal(set) var message: Message? {
    get { messages.current }
    set { messages.show(newValue, at: now) }
  }

  /// Shows news that no key asked for, unless a failure is in view, which nobody may have read yet.
  mutating func tell(_ news: String) {
    if message?.kind == .failure { log(.note(news)) } else { message = .note(news) }
  }

  /// Logs a message without showing it.
  mutating func log(_ message: Message) { messages.add(message, at: now) }

  /// The number of columns and rows.
  package var size: Size { display.size }
  /// The symbols that are drawn.
  package var glyphs: GlyphSet { display.glyphs }
  /// The styles of all parts.
  package var theme: Theme { display.theme }
  /// What files, variables and options say about the screens.
  package var configuration: Configuration { display.configuration }

  /// The key table and the first keys of a pending sequence.
  package internal(set) var keys: KeyTable {
    get { display.keys }
    _modify { yield &display.keys }
  }

  package internal(set) var settings: Settings {
    get { display.configuration.settings }
    _modify { yield &display.configuration.settings }
  }
}

/// How the screens look, and what keys do.
package struct Display: Sendable {
  /// The number of columns and rows.
  package internal(set) var size: Size
  /// The symbols that the terminal can show.
  package let terminalGlyphs: GlyphSet
  /// What files, variables and options say about the screens.
  package internal(set) var configuration = Configuration()
  /// The styles of all parts.
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
