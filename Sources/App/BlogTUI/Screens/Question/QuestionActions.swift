/// What keys do while a question has to be answered.
enum QuestionActions {
  static let all: [BoundAction] = [
    BoundAction(
      .send,
      keys: ["Enter"],
      in: [.confirm],
      help: "the answer in brackets",
      hint: .init(1, "answer"),
      perform: { $0.give($0.answer) }
    ),
    BoundAction(
      .next,
      keys: ["Tab", "Right", "l"],
      in: [.confirm],
      help: "the next answer",
      hint: .init(2, "next"),
      change: { $0.moveAnswer(by: 1) }
    ),
    BoundAction(
      .previous,
      keys: ["S-Tab", "Left", "h"],
      in: [.confirm],
      help: "the answer before",
      change: { $0.moveAnswer(by: -1) }
    ),
    BoundAction(
      .yes,
      keys: ["y"],
      in: [.confirm],
      help: "yes; where something is deleted, Enter has to follow",
      hint: .init(3, "yes"),
      perform: { $0.choose($0.question?.answers.dropFirst().first) }
    ),
    BoundAction(
      .no,
      keys: ["n"],
      in: [.confirm],
      help: "no; any other key changes nothing",
      hint: .init(4, "no"),
      perform: { $0.choose($0.question?.answers.dropFirst(2).first) }
    ),
  ]
}
