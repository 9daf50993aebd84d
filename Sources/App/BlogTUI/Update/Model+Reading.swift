import BlogModel

extension Model {
  /// The post that keys act on: the open one, or the selected one.
  var currentPost: Post? { openPost?.post ?? (openPost == nil ? feed.selectedPost : nil) }

  /// What a list shows of its posts.
  func filter(of kind: FeedKind) -> PostFilter {
    PostFilter(
      pattern: search?.pattern,
      me: me.uid,
      readState: reading.state,
      hidden: reading.hidden,
      dividesDays: settings.isOn(.dayRules) && !kind.isByStars
    )
  }

  /// Shows the list by the present filter.
  mutating func refilter() {
    feed.filter(filter(of: tab))
    feed.markSeen()
  }

  // MARK: The place in a list

  /// Stays with the newest posts from now on, or with what is selected.
  mutating func toggleFollowing() -> [Effect] {
    feed.isFollowing.toggle()
    message =
      feed.isFollowing
      ? .note("The newest posts stay in view; F or any motion ends that.")
      : .note("What you read stays in view.")
    return feed.isFollowing ? showFirst() : []
  }

  /// To the first row, also when the list begins beyond what is there.
  mutating func showFirst() -> [Effect] {
    feed.list.move(to: 0)
    feed.markSeen()
    guard feed.extent.hasNewer else { return [] }
    feed.awaitsFirst = true
    return [.showFirst(tab)]
  }

  /// Tells the blog where the reader is, if it has to know.
  mutating func tellPosition() -> [Effect] {
    guard let id = feed.positionToTell(isFiltered: search?.pattern != nil) else { return [] }
    return [.read(tab, at: id)]
  }

  // MARK: Authors

  mutating func showAuthor() -> [Effect] {
    guard let post = currentPost, !post.uid.isEmpty else { return [] }
    if case .author(post.uid) = tab { return closePost() }
    var effects = closePost() + leaveAuthor()
    if case .author = tab {} else { reading.tabBefore = tab }
    reading.author = Author(uid: post.uid, name: post.author)
    search = nil
    effects += select(tab: .author(uid: post.uid))
    relayout()
    return effects
  }

  /// Ends the list of somebody's posts.
  mutating func leaveAuthor() -> [Effect] {
    guard let author = reading.author else { return [] }
    let kind = FeedKind.author(uid: author.uid)
    reading.author = nil
    self[kind] = Feed()
    return [.stopFollowing(kind)]
  }

  /// Back from the list of somebody's posts, if that is shown.
  mutating func backFromAuthor() -> [Effect]? {
    guard case .author = tab else { return nil }
    let before = reading.tabBefore
    return leaveAuthor() + select(tab: before)
  }

  // MARK: Looks

  /// Chooses the next value of a setting, until the program ends.
  mutating func chooseNextValue(of setting: Setting) {
    let words = setting.suggestions(themes: [])
    let index = words.firstIndex(of: settings.word(setting)) ?? 0
    let word = words[(index + 1) % words.count]
    guard case .success(let value) = setting.value(of: word, themes: []) else { return }
    settings.choose(value, for: setting, from: .session)
    refilter()
    relayout()
    message = .note("\(setting.rawValue): \(word)")
  }

  mutating func openPeople() {
    let now = self.now
    let people = reading.people.sorted { ($0.person.name, $0.id) < ($1.person.name, $1.id) }
    let lines = people.map { presence in
      let name = shownName(of: presence.person.uid, presence.person.name)
      let terminal = SafeText(untrusted: presence.terminal, limit: 60)
      let since = Age.text(presence.since, now: now)
      let age: SafeText = since == "now" ? "since just now" : "for " + since
      return Page.Paragraph(text: name + "  " + terminal + "  " + age, isHeading: false)
    }
    let nobody = Page.Paragraph(text: "Nobody is known to be here.", isHeading: false)
    help = Page(title: "Who is here", content: .text(lines.isEmpty ? [nobody] : lines))
    relayout()
  }
}
