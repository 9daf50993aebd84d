package import BlogModel
import TerminalUI

/// The loop that connects a terminal, the screens and a blog, until the user leaves.
///
/// Loop: wait for keys, for events of the blog or for the next minute → update the model → perform
/// its effects → draw. It is the only owner of the model and everything happens on the main actor;
/// the blog's events cross over in an ``Inbox``.
@MainActor
package final class Program<Terminal: TerminalDevice> {
  /// What is on the screen.
  package private(set) var model: Model

  private let terminal: Terminal
  private let repository: any BlogRepository
  private let inbox: Inbox
  private let keepDrafts: ([Draft]) -> Void
  private var keptDrafts: [Draft]
  private var shown: Screen?
  private var ending: Ending?

  /// Makes a program; nothing happens before ``run()``.
  ///
  /// - Parameters:
  ///   - terminal: The terminal; the program takes it as it is and never closes it.
  ///   - repository: The blog.
  ///   - wake: Ends the wait of the terminal from any thread.
  ///   - drafts: Posts that were begun earlier; the last one is offered first.
  ///   - keepDrafts: Called with all unsent posts whenever they have changed, at most once for
  ///     each drawing, so that even a killed program loses none.
  package init(
    terminal: Terminal,
    repository: any BlogRepository,
    wake: @escaping @Sendable () -> Void,
    drafts: [Draft] = [],
    keepDrafts: @escaping ([Draft]) -> Void = { _ in }
  ) {
    self.terminal = terminal
    self.repository = repository
    self.keepDrafts = keepDrafts
    keptDrafts = drafts
    inbox = Inbox(wake: wake)
    model = Model(
      me: repository.me,
      databaseName: repository.databaseName,
      size: terminal.size,
      glyphs: terminal.glyphs,
      now: repository.now,
      drafts: drafts
    )
  }

  /// Runs until the user leaves or the terminal is gone, and tells which; blocks the caller.
  ///
  /// What was typed and not sent is in the ``model`` afterwards: see ``Model/unsentDrafts``.
  package func run() -> Ending {
    repository.start { [inbox] in inbox.add($0) }
    send(.started)
    while true {
      draw()
      saveDrafts()
      let events = terminal.nextEvents(timeout: model.nextTick)
      send(.tick(now: repository.now))
      takeInbox()
      for event in events {
        handle(event)
        if let ending { return leave(ending) }
      }
    }
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .key(let key):
      send(.key(key))
      // What the key did to the blog is often known at once; the next key then sees it.
      takeInbox()
    case .resumed:
      send(.resumed)
    case .woken:
      takeInbox()
    case .hangUp:
      ending = .hangUp
    case .terminate(let signal):
      ending = .terminated(signal: signal)
    }
  }

  private func takeInbox() {
    for event in Self.withoutOvertaken(inbox.takeAll()) { send(.blog(event)) }
  }

  private func send(_ event: Event) {
    for effect in update(&model, event) { perform(effect) }
  }

  private func draw() {
    let screen = view(model)
    guard screen != shown else { return }
    terminal.render(screen)
    shown = screen
  }

  private func saveDrafts() {
    let drafts = model.unsentDrafts
    guard drafts != keptDrafts else { return }
    keptDrafts = drafts
    keepDrafts(drafts)
  }

  private func leave(_ ending: Ending) -> Ending {
    for feed in model.followedFeeds { repository.stopFollowing(feed) }
    if let id = model.openPostID { repository.close(id) }
    saveDrafts()
    return ending
  }

  private func perform(_ effect: Effect) {
    switch effect {
    case .follow(let feed): repository.follow(feed)
    case .stopFollowing(let feed): repository.stopFollowing(feed)
    case .open(let id): repository.open(id)
    case .close(let id): repository.close(id)
    case .post(let title, let body):
      send(.posted(repository.post(title: title, body: body)))
    case .comment(let id, let text):
      send(.commented(id, commentID: repository.comment(on: id, text: text)))
    case .star(let id, let isStarred): repository.setStar(id, isStarred)
    case .deletePost(let id): repository.deletePost(id)
    case .deleteComment(let id, let comment): repository.deleteComment(comment, on: id)
    case .redraw:
      shown = nil
      terminal.redraw()
    case .suspend:
      terminal.suspend()
      send(.resumed)
    case .bell: terminal.bell()
    case .quit: ending = .quit
    }
  }
}

extension Program {
  /// What an event replaces when it comes later than another of the same kind.
  private enum Subject: Hashable {
    case feed(FeedKind)
    case post(PostID)
    case comments(PostID)
    case connection
    case pendingWrites
  }

  /// The events without those whose whole content a later one replaces.
  ///
  /// A burst costs one update this way, and a row that leaves and comes back does not flicker.
  static func withoutOvertaken(_ events: [BlogEvent]) -> [BlogEvent] {
    guard events.count > 1 else { return events }
    var seen: Set<Subject> = []
    let latest = events.reversed().filter { event in
      guard let subject = subject(of: event) else { return true }
      return seen.insert(subject).inserted
    }
    return latest.reversed()
  }

  private static func subject(of event: BlogEvent) -> Subject? {
    switch event {
    case .feed(let feed, _): .feed(feed)
    case .post(let id, _): .post(id)
    case .comments(let id, _): .comments(id)
    case .connection: .connection
    case .pendingWrites: .pendingWrites
    case .feedFailed, .succeeded, .failed: nil
    }
  }
}
