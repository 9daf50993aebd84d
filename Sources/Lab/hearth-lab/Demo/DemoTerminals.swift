/// The terminals of a demonstration: somebody types in them, and looks at them.
protocol DemoTerminals: Sendable {
  /// Presses keys by their tmux names in several terminals, as nearly at once as possible.
  func press(_ keys: [String], in panes: [TmuxServer.Pane])
  /// Types a text.
  func type(_ text: String, in pane: TmuxServer.Pane)
  /// What a terminal shows, a line a row; empty when it is gone.
  func screen(of pane: TmuxServer.Pane) -> String
}

extension TmuxServer: DemoTerminals {}
