/// The value of a setting.
package enum SettingValue: Hashable, Sendable, CustomStringConvertible, Codable {
  /// Yes or no.
  case flag(Bool)
  /// A word.
  case word(String)
  /// A number.
  case number(Int)

  /// The value as it is typed.
  package var description: String {
    switch self {
    case .flag(let isOn): isOn ? "true" : "false"
    case .word(let word): word
    case .number(let number): String(number)
    }
  }

  /// The value as a configuration file writes it.
  package var tomlText: String {
    switch self {
    case .word(let word): "\"\(word)\""
    case .flag, .number: description
    }
  }
}
