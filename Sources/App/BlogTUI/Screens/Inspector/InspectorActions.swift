/// What keys do in the inspector.
enum InspectorActions {
  static let motions = BoundAction.motions(in: .inspector) { model, motion in
    model.session.inspector.list.move(motion)
    return []
  }

  static let all: [BoundAction] = [
    BoundAction(
      .open,
      keys: ["Enter"],
      in: [.inspector],
      help: "all about the event",
      hint: .init(3, "details"),
      change: { $0.showSelectedWireEvent() }
    ),
    BoundAction(
      "pause",
      keys: ["p"],
      in: [.inspector],
      help: "pause or go on",
      hint: .init(4, "pause"),
      change: { $0.session.inspector.togglePause() }
    ),
    BoundAction(
      "next-kind",
      keys: ["f", "Tab"],
      in: [.inspector],
      help: "only one kind of events",
      hint: .init(5, "filter"),
      change: { $0.session.inspector.showNextKind() }
    ),
    BoundAction(
      "clear",
      keys: ["x"],
      in: [.inspector],
      help: "forget all events",
      hint: .init(7, "clear"),
      change: { $0.session.inspector.clear() }
    ),
    BoundAction(
      "save",
      keys: ["w"],
      in: [.inspector],
      help: "write the events to a file",
      hint: .init(6, "save"),
      perform: { [.write($0.session.inspector.text, file: "hearth-wire.txt")] }
    ),
    BoundAction(
      .back,
      keys: ["q", "Esc", "^C"],
      in: [.inspector],
      help: "back",
      hint: .init(2, "back"),
      perform: { $0.closeInspector() }
    ),
  ]
}
