/// The settings as a chooser: arrows try values out, Enter keeps them, and going back undoes them.
extension Chooser {
  /// Values that are being tried out and are not kept yet.
  struct Trial: Equatable, Sendable {
    /// The settings when the chooser was opened, or when they were last kept.
    var before: Settings
    /// The settings whose values have been changed since.
    var changed: Set<Setting> = []
  }

  var selectedSetting: Setting? {
    guard case .setting(let setting)? = selection?.choice else { return nil }
    return setting
  }

  /// What a setting does, its possible values, and their origin.
  static func explanation(of setting: Setting, in session: Session) -> SafeText {
    let values: String
    switch setting.kind {
    case .number(let range): values = "\(range.lowerBound) to \(range.upperBound)"
    case .flag, .choice, .theme:
      let words = setting.suggestions(themes: session.configuration.themeNames)
      values = words.joined(separator: ", ")
    }
    let origin = session.settings.origin(of: setting).text
    let value = session.settings[setting].description
    let text = "\(setting.help) Now: \(value) (\(origin)). Values: \(values)."
    return SafeText(untrusted: text, limit: 1_000)
  }

  /// The number of lines of the longest explanation; it keeps the list in a fixed position.
  static func explanationHeight(in session: Session, width: Int) -> Int {
    Setting.allCases.map { explanation(of: $0, in: session).wrapped(width: max(1, width)).count }
      .max() ?? 0
  }
}

extension Model {
  mutating func openSettings() {
    var chooser = Chooser(.settings, items: settingItems)
    chooser.trial = Chooser.Trial(before: session.settings)
    show(chooser)
  }

  private var settingItems: [Chooser.Item] {
    Setting.allCases.map { setting in
      Chooser.Item(
        title: setting.rawValue,
        detail: session.settings[setting].description,
        choice: .setting(setting)
      )
    }
  }

  /// Switches the selected setting to its next or previous value; only Enter keeps it.
  mutating func tryValue(by step: Int) -> [Effect] {
    guard let setting = chooser?.selectedSetting,
      let value = session.settings.neighbour(
        of: setting,
        by: step,
        themes: session.configuration.themeNames
      )
    else { return [] }
    session.settings.choose(value, for: setting, from: .session)
    chooser?.trial?.changed.insert(setting)
    let effects = settingsChanged()
    let items = settingItems
    chooser?.update(items: items)
    return effects
  }

  /// Shows the values that the files have now; the trial goes back to those.
  mutating func updateTrial(to settings: Settings) {
    guard var trial = chooser?.trial else { return }
    for setting in trial.changed where trial.before.origin(of: setting) != .session {
      trial.before[choiceOf: setting] = settings[choiceOf: setting]
    }
    chooser?.trial = trial
    let items = settingItems
    chooser?.update(items: items)
  }

  /// Keeps the values that were tried out; without any, lets the user type the value of a number.
  mutating func keepTrial() -> [Effect] {
    guard let trial = chooser?.trial, let setting = chooser?.selectedSetting else { return [] }
    guard !trial.changed.isEmpty else {
      if case .number = setting.kind {
        openCommandLine("set \(setting.rawValue) ")
      } else {
        session.message = .note("Left and Right change the value")
      }
      return []
    }
    let kept = Setting.allCases.filter(trial.changed.contains)
    let settings = session.settings
    let texts = kept.map { "\($0.rawValue) is now \(settings[$0])" }
    session.message = .note(texts.joined(separator: ", ") + ".")
    chooser?.trial = Chooser.Trial(before: settings)
    return kept.map { .environment(.keepSetting($0, settings[$0])) }
  }

  /// Leaves the settings as they were when they were last kept.
  mutating func leaveSettings() -> [Effect] {
    guard let trial = chooser?.trial else { return [] }
    chooser = nil
    guard !trial.changed.isEmpty else { return [] }
    for setting in trial.changed {
      session.settings[choiceOf: setting] = trial.before[choiceOf: setting]
    }
    session.message = .note("The settings are as they were; Enter keeps a change")
    return settingsChanged()
  }

  /// Selects a clicked setting; if it is selected already, switches it to its next value and keeps
  /// it.
  mutating func clickSetting(_ row: Int) -> [Effect] {
    guard chooser?.list.selection == row else {
      chooser?.list.select(row)
      return []
    }
    return tryValue(by: 1) + keepTrial()
  }
}

extension Settings {
  /// The amount by which an arrow changes a number.
  private static let step = 10

  /// The value next to the current one; words and flags wrap around, numbers stay in their range.
  func neighbour(of setting: Setting, by step: Int, themes: [String]) -> SettingValue? {
    if case .number(let range) = setting.kind {
      let number = number(setting) + step * Self.step
      return .number(min(max(number, range.lowerBound), range.upperBound))
    }
    let words = setting.suggestions(themes: themes)
    guard !words.isEmpty else { return nil }
    let index = words.firstIndex(of: word(setting)).map { $0 + step } ?? 0
    let next = words[(index + words.count) % words.count]
    return try? setting.value(of: next, themes: themes).get()
  }
}

enum SettingsActions {
  static let all: [BoundAction] = [
    BoundAction("next-value", keys: ["Right"], in: [.settings], help: "the next value") {
      $0.tryValue(by: 1)
    }
    .hint("next value", rank: 1),
    BoundAction("previous-value", keys: ["Left"], in: [.settings], help: "the previous value") {
      $0.tryValue(by: -1)
    }
    .hint("previous value", rank: 4),
    BoundAction(
      .send,
      keys: ["Enter", "^S"],
      in: [.settings],
      help: "keep the change in the configuration file"
    ) { $0.keepTrial() }
    .hint("keep", rank: 2),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.settings],
      help: "back, without keeping the change"
    ) { $0.leaveSettings() }
    .hint("back", rank: 3),
  ]
}
