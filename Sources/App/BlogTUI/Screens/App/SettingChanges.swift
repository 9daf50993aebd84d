/// Settings that the user chooses at run time, and reloads of the configuration.
extension Model {
  mutating func apply(_ new: Configuration) -> [Effect] {
    let hadProblems = !session.configuration.problems.isEmpty
    let problems = session.display.adopt(new)
    if let first = problems.first {
      let more = problems.count > 1 ? " And \(problems.count - 1) more: see :messages." : ""
      for problem in problems.dropFirst().reversed() { session.log(.failure(problem.description)) }
      session.message = .failure(first.description + "." + more)
    } else if hadProblems, session.configuration.problems.isEmpty {
      session.message = .note("The configuration has no mistakes any more")
    }
    updateTrial(to: new.settings)
    return settingsChanged()
  }

  /// Sets a setting by its name and saves it; without a value, shows the current one.
  mutating func set(_ name: String, to text: String?) -> [Effect] {
    guard let setting = Setting(rawValue: name) else {
      let names = Setting.allCases.map(\.rawValue).joined(separator: ", ")
      return session.answer(.failure("There is no setting \"\(name)\". There are: \(names)."))
    }
    guard let text else {
      let origin = session.settings.origin(of: setting).text
      let value = session.settings[setting]
      return session.answer(.note("\(setting.rawValue) is \(value) (\(origin)). \(setting.help)"))
    }
    switch setting.value(of: text, themes: session.configuration.themeNames) {
    case .failure(let problem):
      return session.answer(.failure(problem.reason + "."))
    case .success(let value):
      session.settings.choose(value, for: setting, from: .session)
      session.message = .note("\(setting.rawValue) is now \(value).")
      return [.environment(.keepSetting(setting, value))] + settingsChanged()
    }
  }

  /// Applies the settings everywhere.
  mutating func settingsChanged() -> [Effect] {
    session.display.updateTheme()
    session.refilter()
    relayout()
    return [.terminal(.configure(session.settings))]
      + session.reading.company.sharePlace(session.settings.isOn(.shareReading))
  }

  /// Switches a setting to its next value, for this session only.
  mutating func chooseNextValue(of setting: Setting) {
    guard let value = session.settings.neighbour(of: setting, by: 1, themes: []) else { return }
    session.settings.choose(value, for: setting, from: .session)
    session.refilter()
    relayout()
    session.message = .note("\(setting.rawValue): \(value)")
  }
}

extension Session {
  mutating func toggleMouse() -> [Effect] {
    let isOn = !settings.isOn(.mouse)
    settings.choose(.flag(isOn), for: .mouse, from: .session)
    message = .note(isOn ? "The mouse works here" : "The mouse selects text, as the terminal does")
    return [.terminal(.configure(settings))]
  }

  /// Disconnects or reconnects this terminal; with an empty word, reports the state.
  mutating func network(_ word: String) -> [Effect] {
    switch word {
    case "off":
      connection.isCutOff = true
      message = .note("This terminal is cut off: what you write waits. :net on connects again.")
      return [.environment(.network(false))]
    case "on":
      connection.isCutOff = false
      message = .note("This terminal connects again")
      return [.environment(.network(true))]
    case "":
      let what = connection.isCutOff ? "cut off" : "not cut off"
      message = .note("This terminal is \(what).")
    default:
      message = .failure("net is on or off, not \"\(word)\".")
    }
    return []
  }
}
