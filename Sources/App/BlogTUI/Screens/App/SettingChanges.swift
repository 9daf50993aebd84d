import BlogModel

/// Settings that the user chooses at run time, and reloads of the configuration.
extension Model {
  /// Applies a new configuration.
  mutating func apply(_ new: Configuration) -> [Effect] {
    var next = new
    // Values that were chosen in this session and not saved remain.
    for setting in Setting.allCases where session.settings.origin(of: setting) == .session {
      next.settings.choose(session.settings[setting], for: setting, from: .session)
    }
    var problems = next.problems
    session.keys = next.keyTable(problems: &problems)
    next.problems = problems
    let isNews = problems != session.configuration.problems
    session.configuration = next
    if isNews, let first = problems.first {
      let more = problems.count > 1 ? " And \(problems.count - 1) more: see :messages." : ""
      for problem in problems.dropFirst().reversed() {
        session.messageLog.add(.failure(problem.description), at: session.now)
      }
      session.message = .failure(first.description + "." + more)
    }
    return settingsChanged()
  }

  /// Sets a setting by its name and saves it; without a value, shows the current one.
  mutating func set(_ name: String, to text: String?) -> [Effect] {
    guard let setting = Setting(rawValue: name) else {
      let names = Setting.allCases.map(\.rawValue).joined(separator: ", ")
      session.message = .failure("There is no setting \"\(name)\". There are: \(names).")
      return []
    }
    guard let text else {
      let origin = session.settings.origin(of: setting).text
      let value = session.settings[setting]
      session.message = .note("\(setting.rawValue) is \(value) (\(origin)). \(setting.help)")
      return []
    }
    switch setting.value(of: text, themes: session.configuration.themeNames) {
    case .failure(let problem):
      session.message = .failure(problem.reason + ".")
      return []
    case .success(let value):
      session.settings.choose(value, for: setting, from: .session)
      session.message = .note("\(setting.rawValue) is now \(value).")
      return [.environment(.keepSetting(setting, value))] + settingsChanged()
    }
  }

  /// Applies the settings everywhere.
  mutating func settingsChanged() -> [Effect] {
    let chosen = session.configuration.theme
    session.theme = session.settings.word(.color) == "never" ? chosen.withoutColors : chosen
    session.refilter()
    relayout()
    return [.terminal(.configure(session.settings))] + session.shareReading()
  }

  /// Switches a setting to its next value, for this session only.
  mutating func chooseNextValue(of setting: Setting) {
    let words = setting.suggestions(themes: [])
    let index = words.firstIndex(of: session.settings.word(setting)) ?? 0
    let word = words[(index + 1) % words.count]
    guard case .success(let value) = setting.value(of: word, themes: []) else { return }
    session.settings.choose(value, for: setting, from: .session)
    session.refilter()
    relayout()
    session.message = .note("\(setting.rawValue): \(word)")
  }
}

extension Session {
  /// Has the blog show others what the user reads, as the settings say.
  fileprivate mutating func shareReading() -> [Effect] {
    let isOn = settings.isOn(.shareReading)
    guard isOn != reading.sharesPlace else { return [] }
    reading.sharesPlace = isOn
    return [.request(.shareReading(isOn))]
  }

  /// Turns mouse support on or off.
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
      isCutOff = true
      message = .note("This terminal is cut off: what you write waits. :net on connects again.")
      return [.environment(.network(false))]
    case "on":
      isCutOff = false
      message = .note("This terminal connects again")
      return [.environment(.network(true))]
    case "":
      message = .note(isCutOff ? "This terminal is cut off." : "This terminal is not cut off.")
    default:
      message = .failure("net is on or off, not \"\(word)\".")
    }
    return []
  }

  /// Why an attempt to reconnect would be pointless.
  var connectingReason: DisabledReason? {
    if isCutOff { return .note("This terminal is cut off. :net on connects again.") }
    guard silence == nil else { return nil }
    return switch connection {
    case .online: .note("Online already")
    case .connecting where connectionProblem == nil: .note("Connecting already")
    case .connecting, .offline: nil
    }
  }
}
