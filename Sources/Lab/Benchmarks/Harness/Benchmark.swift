/// One thing that is measured.
struct Benchmark {
  /// Runs once and gives the figure; what is prepared for it is not part of it.
  typealias Pass = () throws -> Figure

  /// Area and subject, as in `client/update/10k`.
  let name: String
  /// What it is held against, measured in turn with it; ratios are to the first.
  let yardsticks: [Yardstick]
  /// What is aimed at; empty when the curve alone counts.
  let aims: [Aim]
  /// Makes ready what the passes share, which is given up after the last one.
  let prepare: () throws -> Pass

  /// Makes a benchmark whose passes share what is prepared for them.
  init(
    _ name: String,
    against yardsticks: Yardstick...,
    aims: [Aim] = [],
    prepare: @escaping () throws -> Pass
  ) {
    self.name = name
    self.yardsticks = yardsticks
    self.aims = aims
    self.prepare = prepare
  }

  /// Makes a benchmark whose passes share nothing.
  init(
    _ name: String,
    against yardstick: Yardstick,
    aims: [Aim] = [],
    pass: @escaping Pass
  ) {
    self.init(name, against: yardstick, aims: aims, prepare: { pass })
  }
}
