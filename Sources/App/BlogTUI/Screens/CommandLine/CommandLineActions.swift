/// What keys do while a command is typed.
enum CommandLineActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["Enter"],
      in: [.command],
      help: "do it",
      hint: .init(1, "do it"),
      perform: { $0.runCommandLine() }
    ),
    BoundAction(
      "complete",
      keys: ["Tab"],
      in: [.command],
      help: "complete",
      hint: .init(2, "complete"),
      change: { $0.commandLine?.complete(by: 1) }
    ),
    BoundAction(
      "complete-backwards",
      keys: ["S-Tab"],
      in: [.command],
      help: "complete, backwards",
      change: { $0.commandLine?.complete(by: -1) }
    ),
    BoundAction(
      .previous,
      keys: ["Up", "^P"],
      in: [.command],
      help: "an earlier command",
      change: { $0.recallCommand(by: -1) }
    ),
    BoundAction(
      .next,
      keys: ["Down", "^N"],
      in: [.command],
      help: "a later command",
      change: { $0.recallCommand(by: 1) }
    ),
    BoundAction(
      .back,
      keys: ["Esc", "^C"],
      in: [.command],
      help: "back",
      hint: .init(3, "back"),
      change: { $0.commandLine = nil }
    ),
  ]
}
