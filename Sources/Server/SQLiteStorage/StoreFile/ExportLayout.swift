/// How exported JSON is broken into lines.
package enum ExportLayout: Sendable {
  /// Everything on one line.
  case oneLine
  /// A member a line, indented by two spaces a level.
  case lines
}
