import BlogTUI
import NIOConcurrencyHelpers

/// Terminals that are parts of one screen: what is typed in them waits here, and what they show.
final class VirtualTerminals: DemoTerminals {
  private struct State {
    var typed: [String: [KeyEvent]] = [:]
    var screens: [String: String] = [:]
  }

  private let state = NIOLockedValueBox(State())
  private let wake: @Sendable () -> Void

  /// Makes terminals; whoever draws them is woken when something was typed.
  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  func press(_ keys: [String], in panes: [TmuxServer.Pane]) {
    let events = keys.compactMap(Self.key)
    state.withLockedValue { state in
      for pane in panes { state.typed[pane.id, default: []] += events }
    }
    wake()
  }

  func type(_ text: String, in pane: TmuxServer.Pane) {
    state.withLockedValue { $0.typed[pane.id, default: []] += text.map { .character($0) } }
    wake()
  }

  func screen(of pane: TmuxServer.Pane) -> String {
    state.withLockedValue { $0.screens[pane.id] ?? "" }
  }

  /// Takes what was typed in a terminal.
  func takeKeys(of id: String) -> [KeyEvent] {
    state.withLockedValue { $0.typed.removeValue(forKey: id) ?? [] }
  }

  /// Says what a terminal shows.
  func show(_ screen: Screen, on id: String) {
    let text = screen.text()
    state.withLockedValue { $0.screens[id] = text }
  }

  /// The key that tmux calls by that name.
  private static func key(_ name: String) -> KeyEvent? {
    if name.hasPrefix("C-"), name.count == 3 { return name.last.map { .control($0) } }
    return KeyEvent(description: name)
  }
}
