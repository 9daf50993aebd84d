/// How a terminal is used.
package struct TerminalOptions: Hashable, Sendable {
  /// Whether colours are used.
  package enum ColorMode: Hashable, Sendable {
    /// Unless the terminal has none or `NO_COLOR` is set and not empty.
    case automatic
    /// Unless the terminal has none.
    case always
    /// Never; bold, reverse and underline stay.
    case never
  }

  /// Whether colours are used.
  package var colorMode: ColorMode
  /// Whether the wheel and clicks are reported; if not, they stay with the terminal.
  package var usesMouse: Bool
  /// Whether only ASCII is drawn although the terminal could show more.
  package var usesOnlyASCII: Bool
  /// Whether each change is shown at once where the terminal can do that.
  package var usesSynchronizedOutput: Bool

  /// Makes options; those left out are what most users want.
  package init(
    colorMode: ColorMode = .automatic,
    usesMouse: Bool = true,
    usesOnlyASCII: Bool = false,
    usesSynchronizedOutput: Bool = true
  ) {
    self.colorMode = colorMode
    self.usesMouse = usesMouse
    self.usesOnlyASCII = usesOnlyASCII
    self.usesSynchronizedOutput = usesSynchronizedOutput
  }
}
