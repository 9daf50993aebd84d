import BlogModel

extension Author.NameError {
  /// The reason as a sentence of its own.
  var sentence: String { description.prefix(1).uppercased() + description.dropFirst() + "." }
}

/// The name by which others see the user.
extension Model {
  /// Asks for the name once, where it disturbs nothing else; any answer can be changed later.
  mutating func askForName() {
    guard context == .list else { return keepName() }
    commandLine = CommandLine(
      answer: session.me.name,
      limit: Author.longestName,
      to: .init(
        long: "What shall others call you?",
        short: "Your name:",
        askedAt: session.now
      )
    )
    relayout()
  }

  /// Closes the question, and returns true, if a key meant for the screen arrives as it opens.
  mutating func closeUnnoticedQuestion() -> Bool {
    guard let question = commandLine?.question,
      session.now < question.askedAt + CommandLine.Question.noticing
    else { return false }
    commandLine = nil
    relayout()
    return true
  }

  /// Takes the answer; what cannot be a name stays in the line.
  mutating func takeName(_ text: String) -> [Effect] {
    guard let name = validName(text) else { return [] }
    commandLine = nil
    return changeName(to: name)
  }

  /// Leaves the name as it is, and tells how to change it.
  mutating func keepName() {
    session.tell("You are \(session.me.name) here; :name NAME changes that")
  }

  /// Changes the name; without one, tells the present one.
  mutating func changeName(to text: String) -> [Effect] {
    guard !text.isEmpty else {
      keepName()
      return []
    }
    guard let name = validName(text) else { return [] }
    guard name != session.me.name else {
      keepName()
      return []
    }
    let (rename, old) = (BlogAction.rename(name), session.me.name)
    session.writing.add(.written(rename, undo: .rename(old), message: "You are \(old) again"))
    return session.perform(rename)
  }

  /// The text, if it can be a name; otherwise reports why not.
  private mutating func validName(_ text: String) -> String? {
    do throws(Author.NameError) {
      return try Author(userName: text).name
    } catch {
      session.message = .failure(error.sentence)
      return nil
    }
  }
}
