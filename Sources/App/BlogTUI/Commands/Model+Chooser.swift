import BlogModel

extension Model {
  /// Shows everything that can be done here, to be found by a few letters.
  mutating func openPalette() {
    let context = contextBelowCommand
    var seen: Set<Action> = [.palette, .commandLine]
    let actions = keys.bindings(in: context).filter { seen.insert($0.action).inserted }.map {
      let keys = $0.keysText.string
      return Chooser.Item(
        title: $0.help.string,
        detail: keys.isEmpty ? $0.action.name : "\($0.action.name)  \(keys)",
        choice: .action($0.action)
      )
    }
    let commands = Command.all.filter { $0.name != Command.waitIdle }.map {
      Chooser.Item(title: $0.help, detail: ":\($0.name)", choice: .command($0.name))
    }
    show(Chooser(.palette, items: actions + commands))
  }

  /// Shows all settings with their values.
  mutating func openSettings() {
    show(Chooser(.settings, items: settingItems))
  }

  private var settingItems: [Chooser.Item] {
    Setting.allCases.map { setting in
      let value = settings[setting].description
      let origin = settings.origin(of: setting).text
      return Chooser.Item(
        title: setting.rawValue,
        detail: "\(value) (\(origin)): \(setting.help)",
        choice: .setting(setting)
      )
    }
  }

  /// Shows the links of the post or comment that is selected.
  mutating func openLinks() {
    guard let post = openPost?.post ?? feed.selectedPost else { return }
    let comments = openPost?.comments?.map(\.text) ?? []
    let texts = openPost?.selectedComment.map { [$0.text] } ?? [post.body, post.title] + comments
    var seen: Set<String> = []
    let links = texts.flatMap { Link.all(in: $0) }.filter { seen.insert($0.text).inserted }
    guard !links.isEmpty else {
      message = .note("There is no link here.")
      return
    }
    let items = links.map {
      Chooser.Item(title: $0.text, detail: $0.host, choice: .link($0.text))
    }
    show(Chooser(.links, items: items))
  }

  private mutating func show(_ new: Chooser) {
    chooser = new
    relayout()
  }

  mutating func typeIntoChooser(_ key: KeyEvent) {
    guard chooser?.field.handle(key) == .changed else { return }
    chooser?.filter()
  }

  /// Does what the selected item stands for.
  mutating func chooseItem() -> [Effect] {
    guard let item = chooser?.selection else { return [] }
    switch item.choice {
    case .action(let action):
      chooser = nil
      return perform(action, in: contextBelowCommand)
    case .command(let name):
      chooser = nil
      guard let command = Command.named(name), command.needsArguments else { return run(name) }
      openCommandLine(name + " ")
      return []
    case .setting(let setting):
      return keepNextValue(of: setting)
    case .link(let link):
      chooser = nil
      return [.openLink(link)]
    }
  }

  /// The next of the few values of a setting; a number has to be typed.
  private mutating func keepNextValue(of setting: Setting) -> [Effect] {
    let values = setting.suggestions(themes: configuration.themeNames)
    guard !values.isEmpty else {
      openCommandLine("set \(setting.rawValue) ")
      return []
    }
    let index = values.firstIndex(of: settings[setting].description).map { $0 + 1 } ?? 0
    let effects = set(setting.rawValue, values[index % values.count])
    let place = chooser?.list.selectedIndex
    let items = settingItems
    chooser?.items = items
    chooser?.filter()
    if let place { chooser?.list.move(to: place) }
    return effects
  }
}
