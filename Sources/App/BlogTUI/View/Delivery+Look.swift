extension Delivery {
  /// The sign of something I did: noted here, on its way, stored, refused.
  func sign(_ glyphs: GlyphSet) -> SafeText {
    switch self {
    case .local: glyphs.repertoire == .ascii ? "~" : "·"
    case .sent: glyphs.pending
    case .acknowledged: glyphs.check
    case .refused: glyphs.cross
    }
  }

  /// The style of that sign; it says the same again.
  func style(_ theme: Theme) -> Style {
    switch self {
    case .local, .sent: theme.waiting
    case .acknowledged: theme.good
    case .refused: theme.bad
    }
  }
}
