/// A wish of a configuration file: in that place, these keys do that.
package struct KeyOverride: Hashable, Sendable, Codable {
  /// The name of the place, or nil for every place where the action makes sense.
  package let context: String?
  /// The names of the keys, such as `g g`.
  package let keys: String
  /// The name of the action, or `none`.
  package let action: String
  /// The line of the file, counted from 1.
  package let line: Int

  /// Makes a wish.
  package init(context: String?, keys: String, action: String, line: Int) {
    self.context = context
    self.keys = keys
    self.action = action
    self.line = line
  }
}
