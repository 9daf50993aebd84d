import BlogModel

/// A screen: what it shows, what keys and clicks do to it, and how it is drawn.
///
/// A screen owns its state and reads the ``Session``, which all screens share. Its actions are
/// declared in its folder as well; see ``BoundAction``. The ``Model`` holds a stack of screens, and
/// the one in front receives the keys.
protocol AppScreen: Sendable {
  static var layer: ScreenLayer { get }

  /// Handles a click on a row of the screen.
  static func pick(_ row: Int, in model: inout Model) -> [Effect]

  /// Whether the screen fills the content area; otherwise the screen behind it stays visible.
  var fillsContent: Bool { get }

  /// The context in which keys are interpreted while the screen is in front.
  func context(in session: Session) -> Context

  /// Completes the word at the cursor, before a key has another meaning; nil if there is nothing to
  /// complete or the key does not complete it.
  mutating func complete(_ input: Completer.Input, session: inout Session) -> [Effect]?

  /// Handles a key that is bound to no action.
  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session)

  /// Whether the wheel scrolls it while the pointer is over that; otherwise the screen behind it.
  func scrolls(over target: ClickTarget?) -> Bool

  /// Scrolls by one step of the wheel: 1 is down, -1 is up.
  mutating func scroll(by direction: Int, session: inout Session) -> [Effect]

  /// Adapts to the size of the terminal and to the settings.
  mutating func resize(in session: Session)

  /// The rule below the content, as much of it as the screen leaves free.
  func lowerRule(in session: Session) -> Rect

  /// Draws the header and the content.
  func draw(on painter: inout Painter)

  /// Draws the footer; by default the hints of keys.
  func drawFooter(on painter: inout Painter)

  /// Draws what covers everything else.
  func drawOverlay(on painter: inout Painter)
}

/// What a screen did with a key that is bound to no action.
enum TypingOutcome {
  case taken([Effect])
  case ignored
  case closed
}

/// The stacking order of screens, regardless of when they were opened.
enum ScreenLayer: Comparable {
  /// Lists and posts.
  case reading
  case form
  case inspector
  /// Pages that the user reads and leaves again.
  case page
  case chooser
  case line
  case question
}

/// How many lines of a text one step of the wheel scrolls.
let wheelStep = 3

extension AppScreen {
  static func pick(_ row: Int, in model: inout Model) -> [Effect] { [] }

  var fillsContent: Bool { true }

  mutating func complete(_ input: Completer.Input, session: inout Session) -> [Effect]? { nil }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome { .ignored }

  mutating func moveCursor(in field: Int, to offset: Position, session: inout Session) {}

  func scrolls(over target: ClickTarget?) -> Bool { true }

  mutating func scroll(by direction: Int, session: inout Session) -> [Effect] { [] }

  mutating func resize(in session: Session) {}

  func lowerRule(in session: Session) -> Rect { Frame(session.size).lowerRule }

  func drawFooter(on painter: inout Painter) { painter.paintHints() }

  func drawOverlay(on painter: inout Painter) {}
}

/// The screens, one in front of the other; the list of posts is always behind all the others.
struct ScreenStack: Sendable {
  /// Holds each type of screen at most once, ordered by layer, and within a layer by opening time.
  private var screens: [any AppScreen] = [ListScreen()]

  /// The screen that receives the keys.
  var front: any AppScreen { screens.last ?? ListScreen() }

  /// The screen that is visible in the content area.
  var content: any AppScreen { screens.last { $0.fillsContent } ?? ListScreen() }

  /// The frontmost screen below a layer.
  func screen(below layer: ScreenLayer) -> any AppScreen {
    screens.last { Swift.type(of: $0).layer < layer } ?? ListScreen()
  }

  /// The screen of that type; setting a new one puts it in front of its layer, and nil closes it.
  subscript<S: AppScreen>(type: S.Type) -> S? {
    get {
      for screen in screens { if let screen = screen as? S { return screen } }
      return nil
    }
    set { place(newValue, at: take(type)?.index) }
    _modify {
      // The screen leaves the stack during the change, to avoid a copy on write.
      let taken = take(type)
      var screen = taken?.screen
      defer { place(screen, at: taken?.index) }
      yield &screen
    }
  }

  private mutating func take<S: AppScreen>(_ type: S.Type) -> (screen: S, index: Int)? {
    for (index, screen) in screens.enumerated() {
      guard let screen = screen as? S else { continue }
      screens.remove(at: index)
      return (screen, index)
    }
    return nil
  }

  private mutating func place<S: AppScreen>(_ screen: S?, at index: Int?) {
    guard let screen else { return }
    let last = screens.lastIndex { Swift.type(of: $0).layer <= S.layer }
    screens.insert(screen, at: index ?? last.map { $0 + 1 } ?? 0)
  }

  func contains<S: AppScreen>(_ type: S.Type) -> Bool { screens.contains { $0 is S } }

  /// The type of the screen that drew the part with this identifier.
  func type(of id: ScreenID) -> (any AppScreen.Type)? {
    screens.map { Swift.type(of: $0) }.first { ScreenID($0) == id }
  }

  mutating func type(_ key: KeyEvent, session: inout Session) -> TypingOutcome {
    let index = screens.count - 1
    let outcome = screens[index].type(key, session: &session)
    if case .closed = outcome { screens.remove(at: index) }
    return outcome
  }

  /// Has the screen in front complete the word at the cursor.
  mutating func complete(_ input: Completer.Input, session: inout Session) -> [Effect]? {
    screens[screens.count - 1].complete(input, session: &session)
  }

  /// Passes a step of the wheel to the frontmost screen that handles it.
  mutating func scroll(
    by direction: Int,
    over target: ClickTarget?,
    session: inout Session
  ) -> [Effect] {
    guard let index = screens.lastIndex(where: { $0.scrolls(over: target) }) else { return [] }
    return screens[index].scroll(by: direction, session: &session)
  }

  mutating func moveCursor(
    in field: Int,
    of id: ScreenID,
    to offset: Position,
    session: inout Session
  ) {
    for index in screens.indices where ScreenID(Swift.type(of: screens[index])) == id {
      screens[index].moveCursor(in: field, to: offset, session: &session)
    }
  }

  /// Tells all screens that the terminal size or the settings have changed.
  mutating func resize(in session: Session) {
    for index in screens.indices { screens[index].resize(in: session) }
  }
}

/// The identity of a screen's type, as recorded for the parts that it has drawn.
typealias ScreenID = ObjectIdentifier

/// A part of the screen that can be clicked.
enum ClickTarget: Hashable {
  case tab(FeedKind)
  /// The list of posts, outside its rows.
  case list
  /// A row of the list, or the post shown next to it.
  case post(PostID)
  case answer(Answer)
  /// A hint that shows what a key does.
  case action(Action)
  /// What is offered for the word at the cursor, by its index.
  case completion(Int)
  case row(Int, of: ScreenID)
  case field(Int, of: ScreenID)

  static func row(_ number: Int, of type: any AppScreen.Type) -> ClickTarget {
    .row(number, of: ScreenID(type))
  }

  static func field(_ number: Int = 0, of type: any AppScreen.Type) -> ClickTarget {
    .field(number, of: ScreenID(type))
  }
}
