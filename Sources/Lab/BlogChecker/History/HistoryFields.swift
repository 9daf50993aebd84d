import RealtimeCore

/// The members of one line of a history, by name.
struct HistoryFields {
  private let json: JSONValue

  init(_ json: JSONValue) {
    self.json = json
  }

  func missing(_ name: String) -> HistoryError {
    HistoryError("\"\(name)\" is missing or of the wrong kind")
  }

  func value(_ name: String) -> JSONValue? {
    guard let value = json[name], value != .null else { return nil }
    return value
  }

  func text(_ name: String) throws(HistoryError) -> String {
    guard let text = json[name]?.string else { throw missing(name) }
    return text
  }

  func optionalText(_ name: String) -> String? { json[name]?.string }

  func integer(_ name: String) throws(HistoryError) -> Int64 {
    guard let number = json[name]?.integer else { throw missing(name) }
    return number
  }

  func optionalInteger(_ name: String) -> Int64? { json[name]?.integer }

  func bool(_ name: String) throws(HistoryError) -> Bool {
    guard let bool = json[name]?.bool else { throw missing(name) }
    return bool
  }

  func texts(_ name: String) throws(HistoryError) -> [String] {
    guard let elements = json[name]?.elements else { throw missing(name) }
    return elements.compactMap(\.string)
  }

  func optionalTexts(_ name: String) -> [String]? {
    json[name]?.elements.map { $0.compactMap(\.string) }
  }

  func choice<Choice: RawRepresentable<String>>(
    _ name: String
  ) throws(HistoryError) -> Choice {
    guard let choice = Choice(rawValue: try text(name)) else { throw missing(name) }
    return choice
  }
}
