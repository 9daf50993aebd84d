/// A regular expression as it was written.
indirect enum RegexSyntax {
  case set(ScalarSet)
  case start
  case end
  case sequence([RegexSyntax])
  case choice([RegexSyntax])
  /// At least and at most so many times; nil for any number.
  case repetition(RegexSyntax, least: Int, most: Int?)
}
