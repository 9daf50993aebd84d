import BlogModel

extension Model {
  /// Takes over what the files, variables and options say now.
  mutating func apply(_ new: Configuration) -> [Effect] {
    var next = new
    // What was chosen here and not kept stays.
    for setting in Setting.allCases where settings.origin(of: setting) == .session {
      next.settings.choose(settings[setting], for: setting, from: .session)
    }
    var problems = next.problems
    keys = KeyTable.standard.applying(next.keys, source: next.source, problems: &problems)
    next.problems = problems
    let isNews = problems != configuration.problems
    configuration = next
    if isNews, let first = problems.first {
      let more = problems.count > 1 ? " And \(problems.count - 1) more: see :messages." : ""
      for problem in problems.dropFirst().reversed() {
        messageLog.add(.failure(problem.description), at: now)
      }
      message = .failure(first.description + "." + more)
    }
    return settingsChanged()
  }

  /// Chooses a value by name and keeps it.
  mutating func set(_ name: String, _ text: String?) -> [Effect] {
    guard let setting = Setting(rawValue: name) else {
      let names = Setting.allCases.map(\.rawValue).joined(separator: ", ")
      message = .failure("There is no setting \"\(name)\". There are: \(names).")
      return []
    }
    guard let text else {
      let origin = settings.origin(of: setting).text
      message = .note("\(setting.rawValue) is \(settings[setting]) (\(origin)). \(setting.help)")
      return []
    }
    switch setting.value(of: text, themes: configuration.themeNames) {
    case .failure(let problem):
      message = .failure(problem.reason + ".")
      return []
    case .success(let value):
      settings.choose(value, for: setting, from: .session)
      message = .note("\(setting.rawValue) is now \(value).")
      return [.keepSetting(setting, value)] + settingsChanged()
    }
  }

  /// Makes everything follow the settings.
  private mutating func settingsChanged() -> [Effect] {
    let chosen = configuration.theme
    theme = settings.word(.color) == "never" ? chosen.withoutColors : chosen
    refilter()
    relayout()
    return [.configureTerminal(settings)]
  }
}
