package import BlogModel

/// The blog as lines of text for screen readers: one line for each event, what matters first.
///
/// States: list ⇄ post; in either, title → text → list while a post is written.
package struct PlainBlog: Sendable {
  /// The result of a typed line.
  package struct Answer: Equatable, Sendable {
    package var lines: [String] = []
    package var effects: [Effect] = []
    /// Whether what was typed cannot be done.
    fileprivate var isRefusal = false

    fileprivate static func refusal(_ line: String) -> Answer {
      Answer(lines: [line], isRefusal: true)
    }
  }

  private enum Mode {
    case commands
    /// The next line is the title of a new post, or of the post that is edited.
    case title(editing: Post?)
    case body(title: String, editing: Post?, lines: [String])
    /// A dot does what was asked about; anything else does not, and the answer says so.
    case asking(BlogAction, otherwise: String)
  }

  /// What was told last: all that came while none of the user's writes waited for an answer.
  private struct Told {
    var name: String
    var posts: [Post]?
    var hasOlderPosts = false
    var comments: [Comment]?
  }

  private var me: Author
  private var posts: [Post]?
  /// Whether there are posts before those, which the list does not have.
  private var hasOlderPosts = false
  /// The posts in the order in which their numbers were printed last; nil before that.
  private var numbered: [PostID]?
  private var names = NameBook()
  private var open: PostID?
  /// The open post as it was last known, since it may be older than all in the list.
  private var openPost: Post?
  private var isOpenGone = false
  /// Whether the open post or its comments were refused.
  private var isOpenRefused = false
  private var comments: [Comment]?
  private var told: Told
  /// Whether the open post has comments before those.
  private var hasEarlier = false
  /// Whether they were asked for and have not come.
  private var awaitsEarlier = false
  private var people: [Presence] = []
  private var notices: [NoticeEntry]?
  /// What the user has read; nil until that is known, and then nothing is new.
  private var readState: ReadState?
  /// How many of the user's writes have no answer yet.
  private var unanswered = 0
  /// The stars that were given or removed here and that the database has not acknowledged.
  private var starIntents: [PostID: Bool] = [:]
  private var hasFailed = false
  /// Whether something that was typed could not be done, or was refused.
  private var hasRefused = false
  private var connection: ConnectionState?
  private var toldProblem: String?
  private var mode = Mode.commands
  /// Whether what is not sent before the program ends is stored for the next one.
  private let keepsWrites: Bool

  /// Makes a blog of which nothing is known yet.
  package init(me: Author, keepsWrites: Bool = true) {
    self.me = me
    self.keepsWrites = keepsWrites
    told = Told(name: me.name)
  }

  /// Whether commands can be run: posts and notices are known, or cannot be read.
  package var isReady: Bool { (posts != nil && notices != nil) || hasFailed }

  /// Whether everything that was asked for has been answered.
  package var isSettled: Bool {
    isReady && unanswered == 0 && !awaitsEarlier
      && (open == nil || comments != nil || isOpenRefused || hasFailed)
  }

  /// Whether all that was typed has been done, or will be; false if the input ends in between.
  package var isDone: Bool {
    !hasRefused && unfinished == nil && (unanswered == 0 || keepsWrites)
  }

  private var isOffline: Bool {
    if case .offline? = connection { true } else { toldProblem != nil }
  }

  // MARK: Events

  /// Returns the lines that describe an event.
  ///
  /// What a write of the user changes is told once the database has answered, which may refuse it.
  package mutating func take(_ event: BlogEvent) -> [String] {
    let lines = outcome(of: event)
    return news() + lines
  }

  private mutating func outcome(of event: BlogEvent) -> [String] {
    switch event {
    case .feed(.recent, let new):
      for post in new { names.learn(post.writer) }
      posts = new
    case .extent(.recent, let extent): hasOlderPosts = extent.hasOlder
    case .comments(let id, let new) where id == open:
      for comment in new { names.learn(comment.writer) }
      awaitsEarlier = awaitsEarlier && hasEarlier && new.count <= (comments?.count ?? 0)
      comments = new
    case .post(let id, let post) where id == open:
      isOpenGone = post == nil
      openPost = post ?? openPost
    case .connection(let state): return take(state)
    case .connectionProblem(let problem): return take(problem)
    case .silence(let silence?): return ["No answer from \(silence.address)."]
    case .feedFailed(_, let reason):
      hasFailed = true
      hasRefused = true
      return ["The posts cannot be read: \(reason)."]
    case .postFailed(let id, let reason) where id == open:
      isOpenRefused = true
      hasRefused = true
      awaitsEarlier = false
      return ["Not all of this post can be read: \(reason)."]
    case .failed(let action, let reason):
      end(action)
      hasRefused = true
      return ["Refused: \(action.name): \(reason)."]
    case .succeeded(let action):
      end(action)
      return ["Done: \(action.name)."]
    case .people(let new): people = new
    case .named(let known):
      me = known
      told.name = known.name
      names.learn(me)
    case .renamed(let new):
      me = new
      names.learn(me)
    case .readState(let state): readState = state
    case .markAnswered: unanswered = max(0, unanswered - 1)
    case .markRefused(let change, let reason):
      hasRefused = true
      return change.refusal.map { ["\($0): \(reason)."] } ?? []
    case .notices(let new):
      for author in new.compactMap(\.author) { names.learn(author) }
      notices = new
    // Stars are told as changes of the posts, and comments on the open post with their text.
    case .notice(.star): break
    case .notice(let notice) where notice.post != open:
      return [notice.sentence(name: { names.shown($0) }, title: { $0 })]
    case .hasEarlierComments(let id, let hasEarlier):
      if id == open { self.hasEarlier = hasEarlier }
    case .feed, .extent, .post, .postFailed, .comments, .latestComments, .typing, .ownLists,
      .roundTrip, .pendingWrites, .found, .silence, .unnamed, .reading, .notice:
      break
    }
    return []
  }

  private mutating func end(_ action: BlogAction) {
    unanswered = max(0, unanswered - 1)
    if case .star(let id, let isStarred) = action, starIntents[id] == isStarred {
      starIntents[id] = nil
    }
  }

  /// What has changed since it was told, unless an answer to a write may change it again.
  private mutating func news() -> [String] {
    // Whatever lacks its author is what an edit leaves of something that was deleted before.
    let posts = posts.map { all in all.filter { !$0.uid.isEmpty } }
    let comments = comments.map { all in all.filter { !$0.uid.isEmpty } }
    var lines: [String] = []
    if let posts, unanswered == 0 || told.posts == nil {
      lines += changes(to: posts)
      told.posts = posts
      told.hasOlderPosts = hasOlderPosts
    }
    if unanswered == 0, isOpenGone {
      leave()
      lines.append("The open post was deleted.")
    } else if let comments, open != nil, unanswered == 0 || told.comments == nil {
      lines += changes(to: comments)
      told.comments = comments
    }
    if unanswered == 0, told.name != me.name {
      lines.append("Your name is \(me.name) now.")
      told.name = me.name
    }
    return lines
  }

  private func changes(to new: [Post]) -> [String] {
    guard let told = told.posts else {
      let count = posts?.count ?? 0
      return ["\(count.counted("post")). Type help for commands, list for the posts."]
    }
    let before = Dictionary(told.map { ($0.id, $0) }) { first, _ in first }
    let now = Set(new.map(\.id))
    var lines: [String] = []
    for post in new.reversed() {
      guard let old = before[post.id] else {
        // An older one takes the place of one that was deleted.
        if self.told.hasOlderPosts, let last = told.last, post.id.precedes(last.id) { continue }
        lines.append("New post by \(name(of: post)): \(post.title).")
        continue
      }
      if old.title != post.title || old.body != post.body {
        lines.append("Changed post by \(name(of: post)): \(post.title).")
      }
      if old.starCount != post.starCount {
        lines.append("\(post.starCount.counted("star")) for \(post.title).")
      }
    }
    // The list is limited to a hundred posts, so the oldest leaves when a new one arrives; that is
    // not a deletion.
    let gone = told.filter { post in
      let isPushedOut =
        hasOlderPosts && new.count >= told.count
        && new.last.map { post.id.precedes($0.id) } == true
      return !now.contains(post.id) && !isPushedOut
    }
    return lines + gone.map { "Deleted post: \($0.title)." }
  }

  private func changes(to new: [Comment]) -> [String] {
    guard let comments = told.comments else {
      let count = new.count.counted("comment")
      return [hasEarlier ? "The newest \(count); earlier shows more." : "\(count)."]
        + new.flatMap { lines(of: $0) }
    }
    let before = Dictionary(comments.map { ($0.id, $0) }) { first, _ in first }
    let now = Set(new.map(\.id))
    // Earlier ones come because they were asked for, and leave when there are more new ones.
    func isBefore(_ comment: Comment, _ first: Comment?) -> Bool {
      first.map { comment.id.precedes($0.id) } ?? false
    }
    let gone = comments.filter { !now.contains($0.id) && !(hasEarlier && isBefore($0, new.first)) }
    let added = new.filter { before[$0.id] == nil }
    let changed = new.filter { comment in
      before[comment.id].map { $0.text != comment.text } ?? false
    }
    return added.filter { isBefore($0, comments.first) }.flatMap { lines(of: $0) }
      + added.filter { !isBefore($0, comments.first) }
      .flatMap { lines(of: $0, after: "New comment: ") }
      + changed.flatMap { lines(of: $0, after: "Changed comment: ") }
      + gone.map { "Deleted comment of \(name(of: $0))." }
  }

  /// What others have added to the open post and was not reported, since a write waits for its
  /// answer; nothing else reports it once the post is closed.
  private var withheldComments: [String] {
    guard unanswered > 0, let known = told.comments, let comments else { return [] }
    let ids = Set(known.map(\.id))
    return comments.filter { comment in
      !comment.uid.isEmpty && comment.uid != me.uid && !ids.contains(comment.id)
        && known.first.map { comment.id.precedes($0.id) } != true
    }.flatMap { lines(of: $0, after: "New comment: ") }
  }

  private mutating func take(_ problem: ConnectionProblem?) -> [String] {
    // The reason for being offline is reported once, not after each attempt to connect.
    guard let problem, problem.reason != toldProblem else {
      if problem == nil { toldProblem = nil }
      return []
    }
    toldProblem = problem.reason
    return ["Offline: \(problem.reason)."]
  }

  private mutating func take(_ state: ConnectionState) -> [String] {
    // An attempt between two failures is not worth a line.
    // Before the first connection there is nothing to tell but its problem, which is told itself.
    guard state != .connecting, state == .online || connection != nil else { return [] }
    defer { connection = state }
    switch (state, connection) {
    case (.online, .online?), (.offline, .offline?), (.connecting, _): return []
    case (.online, _): return ["Online."]
    case (.offline, _): return ["Offline. What you write is sent later."]
    }
  }

  /// A comment and its author; further lines are indented, so that they are not taken for events.
  private func lines(of comment: Comment, after beginning: String = "") -> [String] {
    let lines = Self.lines(of: "\(beginning)\(comment.shownText) (\(name(of: comment)))")
    return lines.prefix(1) + lines.dropFirst().map { "  " + $0 }
  }

  private static func lines(of text: String) -> [String] {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
  }

  private func name(of post: Post) -> String { names.shown(post.writer) }

  private func name(of comment: Comment) -> String { names.shown(comment.writer) }

  // MARK: Commands

  /// The commands and their descriptions, as printed by `help`.
  package static let commands: [(name: String, help: String)] = [
    ("list", "the posts, newest first, each with a number"),
    ("open N", "read a post and its comments"),
    ("earlier", "load earlier comments"),
    ("back", "leave the post"),
    ("post", "write a post: its title, then its text, then a line with a dot"),
    ("comment TEXT", "comment on the open post"),
    ("star N, unstar N", "star a post, or unstar it; without a number, the open post"),
    ("edit N", "change a post of yours; an empty line keeps the title, a dot alone the text"),
    ("delete N", "delete a post of yours, if a line with a dot follows"),
    ("search WORDS", "the posts that match, such as search tea author:bob"),
    ("follow N, unfollow N", "follow or unfollow the author of a post"),
    ("mute N, unmute N", "hide on the screens what a post's author writes, or show it"),
    ("block N, unblock N", "refuse the author's comments on my posts, or allow them"),
    ("bookmark N, unbookmark N", "add a post to your bookmarks, or remove it"),
    ("notices, notices clear", "comments on your posts, answers to you, and where you are named"),
    ("read N, read all", "mark a post as read, or everything; unread N marks it as unread"),
    ("people", "who is online"),
    ("name, name NAME", "who you are, or another name for you"),
    ("quit", "leave"),
  ]

  /// Handles a typed line: a command, or the title or text of a post.
  ///
  /// The time is in milliseconds since 1970, by the server's clock.
  package mutating func run(_ line: String, now: Int64) -> Answer {
    var answer = answer(to: line, now: now)
    hasRefused = hasRefused || answer.isRefusal
    if isOffline, let line = answer.effects.lazy.compactMap(lateness).first {
      answer.lines.append(line)
    }
    unanswered += answer.effects.count { effect in
      switch effect {
      case .write, .mark: true
      case .request, .search, .terminal, .environment, .quit, .changeAccount: false
      }
    }
    return answer
  }

  /// What to print at the end of the input: that what was begun comes to nothing.
  package var unfinished: String? {
    switch mode {
    case .commands: nil
    case .asking(_, let otherwise): otherwise
    case .title, .body: "Nothing is sent: no line with a single dot ended the text."
    }
  }

  /// What becomes of a write without a connection; nil if the effect is none.
  private func lateness(of effect: Effect) -> String? {
    let sent =
      keepsWrites ? "It is kept, and sent later" : "Unless hearth ends before, it is sent later"
    return switch effect {
    case .write(.edit): "\(sent); then it overwrites what was changed elsewhere."
    case .write: "\(sent)."
    case .mark, .request, .search, .terminal, .environment, .quit, .changeAccount: nil
    }
  }

  private mutating func answer(to line: String, now: Int64) -> Answer {
    switch mode {
    case .commands: return command(line, now: now)
    case .asking(let action, let otherwise):
      mode = .commands
      if line == "." { return Answer(effects: [.write(action)]) }
      let next = command(line, now: now)
      return Answer(
        lines: [otherwise] + next.lines,
        effects: next.effects,
        isRefusal: next.isRefusal
      )
    case .title(let edited):
      let title = line.isBlank ? edited?.title : line
      mode = title.map { .body(title: $0, editing: edited, lines: []) } ?? .commands
      guard case .body = mode else { return .refusal("No title, no post.") }
      return Answer(lines: ["Text? A line with a single dot ends it."])
    case .body(let title, let edited, let lines):
      guard line == "." else {
        mode = .body(title: title, editing: edited, lines: lines + [line])
        return Answer()
      }
      mode = .commands
      let body = edited.flatMap { lines.isEmpty ? $0.body : nil } ?? lines.joined(separator: "\n")
      if let problem = BlogBounds.problem(title: title, body: body) {
        return .refusal("Not posted: \(problem.description)")
      }
      if let edited { return change(edited, title: title, body: body) }
      return Answer(effects: [.write(.post(title: title, body: body))])
    }
  }

  private mutating func command(_ line: String, now: Int64) -> Answer {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    guard let name = words.first else { return Answer() }
    let rest = words.count > 1 ? words[1] : ""
    if !rest.isBlank, Self.commands.contains(where: { $0.name == name }) {
      return .refusal("The command \(name) takes no words. Type help.")
    }
    switch name {
    case "help", "?": return Answer(lines: Self.commands.map { "\($0.name): \($0.help)." })
    case "list": return list(otherwise: "No posts yet.") { _ in true }
    case "open": return with(rest) { plain, post in plain.show(post) }
    case "earlier":
      guard let open else { return .refusal("Open a post first.") }
      guard comments != nil else {
        let state = isOpenRefused ? "cannot be read" : "have not arrived yet"
        return .refusal("The comments \(state).")
      }
      guard hasEarlier else { return Answer(lines: ["All comments are here."]) }
      awaitsEarlier = true
      return Answer(effects: [.request(.showEarlierComments(open))])
    case "back":
      guard let open else { return .refusal("No post is open.") }
      defer { leave() }
      let title = openPost.map { ": \($0.title)" } ?? ""
      return Answer(
        lines: withheldComments + ["Closed the post\(title)."],
        effects: [.request(.close(open))]
      )
    case "post":
      mode = .title(editing: nil)
      return Answer(lines: ["Title?"])
    case "edit": return with(rest) { plain, post in plain.edit(post) }
    case "search": return search(rest)
    case "people":
      let here = people.map { "\(names.shown($0.person)), at \($0.terminal)." }
      return Answer(lines: here.isEmpty ? ["Nobody is known to be online."] : here)
    case "notices" where rest == "clear":
      guard let key = notices?.map(\.key).max() else { return listNotices() }
      return Answer(
        lines: ["The notices are cleared."],
        effects: [.mark(.clearNotices(upTo: key))] + markStars { _ in true }
      )
    case "notices": return listNotices()
    case "read" where rest == "all":
      return Answer(
        lines: ["Everything is marked as read."],
        effects: [.mark(.allRead)] + markStars { _ in true }
      )
    case "read":
      return with(rest) { plain, post in
        Answer(
          lines: ["Marked as read."],
          effects: [.mark(.post(post.id, .read(until: now)))] + plain.markStars { $0 == post.id }
        )
      }
    case "unread":
      return with(rest) { _, post in
        Answer(lines: ["Marked as unread."], effects: [.mark(.post(post.id, .unread))])
      }
    case "name": return self.name(rest)
    case "comment": return comment(rest)
    case "quit", "q": return Answer(effects: [.quit])
    default:
      guard BlogAction.verbs[name] != nil else {
        return .refusal("There is no command \"\(name)\". Type help.")
      }
      return with(rest) { plain, post in plain.perform(name, on: post) }
    }
  }

  private func listNotices() -> Answer {
    guard let notices else { return .refusal("The notices have not arrived yet.") }
    if notices.isEmpty { return Answer(lines: ["No notices yet."]) }
    let lines = notices.map { entry in
      let sentence = entry.sentence(by: entry.author.map { names.shown($0) } ?? "")
      return (readState?.isUnread(entry) == true ? "New: " : "") + sentence + "."
    }
    return Answer(lines: lines)
  }

  /// The effect that notes the stars on posts of the user as seen.
  private func markStars(_ isWanted: (PostID) -> Bool) -> [Effect] {
    let seen = (notices ?? []).filter { $0.kind == .stars && isWanted($0.post) }
    return seen.isEmpty ? [] : [.mark(.stars(Dictionary(seen.map { ($0.post, $0.stars) }) { $1 }))]
  }

  /// The posts that pass, with the numbers that they have in the whole list from now on.
  private mutating func list(otherwise none: String, where passes: (Post) -> Bool) -> Answer {
    guard let posts else { return .refusal("The posts have not arrived yet.") }
    numbered = posts.map(\.id)
    let lines = posts.enumerated().filter { passes($0.element) }.map { index, post in
      let mine = post.stars.contains(me.uid) ? ", one is yours" : ""
      let stars = post.starCount.counted("star") + mine
      return "\(index + 1). \(post.title), by \(name(of: post)). \(stars)."
    }
    return Answer(lines: lines.isEmpty ? [none] : lines)
  }

  /// Calls the body with the post of that number or, without a number, with the open post.
  private mutating func with(
    _ number: String,
    _ body: (inout PlainBlog, Post) -> Answer
  ) -> Answer {
    if number.isEmpty {
      guard let open, let post = posts?.first(where: { $0.id == open }) ?? openPost else {
        return .refusal("Open a post first, or say its number.")
      }
      return body(&self, post)
    }
    let numbers = numbered ?? posts?.map(\.id) ?? []
    guard let index = Int(number), numbers.indices.contains(index - 1) else {
      return .refusal("There is no post with that number. Type list.")
    }
    // What a number has been printed for is what it means, whatever has come and gone since.
    guard let post = posts?.first(where: { $0.id == numbers[index - 1] }) else {
      return .refusal("Post \(index) is no longer in the list. Type list.")
    }
    return body(&self, post)
  }

  private mutating func show(_ post: Post) -> Answer {
    let closing: [Effect] = open.map { [.request(.close($0))] } ?? []
    let withheld = withheldComments
    leave()
    open = post.id
    openPost = post
    let body = Self.lines(of: post.shownBody)
    let stars = post.starCount.counted("star")
    let lines = ["\(post.title), by \(name(of: post)). \(stars)."] + body
    return Answer(lines: withheld + lines, effects: closing + [.request(.open(post.id))])
  }

  private mutating func leave() {
    open = nil
    openPost = nil
    isOpenGone = false
    isOpenRefused = false
    comments = nil
    told.comments = nil
    hasEarlier = false
    awaitsEarlier = false
  }

  private func comment(_ text: String) -> Answer {
    guard let open else { return .refusal("Open a post first.") }
    if let problem = BlogBounds.problem(comment: text) {
      return .refusal(problem.description)
    }
    return Answer(effects: [.write(.comment(open, text: text))])
  }

  private func name(_ text: String) -> Answer {
    guard !text.isEmpty else { return Answer(lines: ["You are \(me.name)."]) }
    do throws(Author.NameError) {
      return Answer(effects: [.write(.rename(try Author(userName: text).name))])
    } catch {
      return .refusal("Not renamed: \(error).")
    }
  }

  private mutating func search(_ text: String) -> Answer {
    if let problem = SearchPattern.problem(in: text) { return .refusal(problem) }
    guard let pattern = SearchPattern(text) else { return .refusal("Search for what?") }
    let (uid, readState) = (me.uid, readState)
    return list(otherwise: "No post matches.") {
      pattern.matches($0, me: uid, readState: readState)
    }
  }

  private mutating func edit(_ post: Post) -> Answer {
    guard post.uid == me.uid else {
      return .refusal("Only \(name(of: post)) can change it.")
    }
    mode = .title(editing: post)
    return Answer(lines: ["Title? It is: \(post.title)"])
  }

  /// Changes a post; what was changed elsewhere meanwhile is overwritten after another dot only.
  private mutating func change(_ edited: Post, title: String, body: String) -> Answer {
    let title = title == edited.title ? nil : title
    let body = body == edited.body ? nil : body
    guard title != nil || body != nil else { return Answer(lines: ["Nothing changed."]) }
    let shown = posts?.first { $0.id == edited.id }
    let present = shown ?? (open == edited.id ? openPost : nil) ?? edited
    guard
      present.title.isLost(to: title, knowing: [edited.title])
        || present.body.isLost(to: body, knowing: [edited.body])
    else { return Answer(effects: [.write(.edit(edited.id, title: title, body: body))]) }
    mode = .asking(.edit(edited.id, title: title, body: body), otherwise: "Not changed.")
    return Answer(lines: ["The post was changed elsewhere meanwhile; another dot overwrites that."])
  }

  private mutating func perform(_ verb: String, on post: Post) -> Answer {
    guard let action = BlogAction.verbs[verb]?(post) else { return Answer() }
    guard !action.isDeletion || post.uid == me.uid else {
      return .refusal("Only \(name(of: post)) can delete it.")
    }
    if action.isDeletion {
      mode = .asking(action, otherwise: "Not deleted.")
      return Answer(lines: ["Delete \(post.title)? A line with a single dot deletes it."])
    }
    if case .star(let id, let isStarred) = action {
      // A star that changes nothing would be counted until the database answers.
      guard isStarred != starIntents[id] ?? post.stars.contains(me.uid) else {
        return Answer(lines: [
          isStarred ? "You have starred it already." : "You have not starred it."
        ])
      }
      starIntents[id] = isStarred
    }
    return Answer(effects: [.write(action)])
  }
}

extension String {
  /// Whether what has this key was made before what has the other.
  fileprivate func precedes(_ other: String) -> Bool {
    utf16.lexicographicallyPrecedes(other.utf16)
  }
}
