import BlogModel
import TestSupport
import Testing

@testable import BlogTUI

@Suite("Own commands")
struct OwnCommandTests {
  private func read(_ text: String) -> Configuration {
    ConfigurationReader(text: text, source: "c.toml").result
  }

  /// A model with the commands of a configuration.
  private func model(_ text: String) -> Model {
    var model = Fixture.loaded()
    model.send(.configured(read(text)))
    return model
  }

  @Test("Commands are read in the three forms of TOML, with their keys and output")
  func reading() {
    let configuration = read(
      """
      [commands]
      words = "wc -w"
      browse = { run = "w3m", output = "terminal" }
      [commands.keep]
      run = 'cat > "$HEARTH_POST_ID"'
      key = "g k"
      output = "none"
      """
    )
    #expect(configuration.problems == [])
    #expect(configuration.commands.map(\.name) == ["words", "browse", "keep"])
    #expect(configuration.commands.map(\.shell) == ["wc -w", "w3m", "cat > \"$HEARTH_POST_ID\""])
    #expect(configuration.commands.map(\.output) == [.page, .terminal, .none])
    #expect(
      configuration.commands[2].keys
        == KeyOverride(context: nil, keys: "g k", action: "keep", line: 6)
    )
  }

  @Test(
    "What is wrong with a command is reported with its line",
    arguments: [
      ("[commands.a]\nrun = \"x\"\ncolour = \"red\"", 3, "a command has no \"colour\""),
      ("[commands.a]\nrun = \"x\"\noutput = \"paper\"", 3, "output is one of page"),
      ("[commands.a]\n\nkey = \"x\"", 3, "the command \"a\" needs a line"),
      ("[commands]\na = \" \"", 2, "the command \"a\" is empty"),
      ("[commands]\na = 1.5", 2, "needs a text in quotes"),
      ("[commands]\n\"a b\" = \"x\"", 2, "cannot name a command"),
      ("[commands]\nstar = \"x\"", 2, "there is a command \"star\" already"),
      ("[commands]\nsearch = \"x\"", 2, "there is a command \"search\" already"),
      ("[commands.a]\nrun = \"x\"\nkey = \"Hyper-x\"", 3, "is not a key"),
      ("[commands.a.b]\nrun = \"x\"", 2, "there is no table [commands.a.b]"),
    ]
  )
  func faults(text: String, line: Int, reason: String) {
    let problems = read(text).allProblems
    #expect(problems.count == 1)
    #expect(problems.first?.line == line)
    #expect(problems.first?.reason.contains(reason) == true, "\(problems)")
  }

  @Test("A second command on a key is reported with the line of the first")
  func collision() {
    let problems = read(
      "[commands.a]\nrun = \"x\"\nkey = \"X\"\n[commands.b]\nrun = \"y\"\nkey = \"X\""
    )
    .allProblems
    #expect(problems.map(\.line) == [6, 6])
    #expect(problems.first?.reason.contains("of line 3") == true)
  }

  @Test("A key runs a command with the post as its input and never as shell code")
  func running() throws {
    var model = model("[commands.keep]\nrun = \"cat\"\nkey = \"X\"")
    guard case .run(let job)? = model.type("X").first?.environmentAction
    else { throw Unexpected("nothing ran") }
    #expect(job.shell == "cat")
    #expect(job.input == Fixture.posts[0].body + "\n")
    #expect(job.variables["HEARTH_POST_ID"] == "p12")
    #expect(job.variables["HEARTH_POST_TITLE"] == "The hearth is lit")
    #expect(model.type("X") == [])
    #expect(model.message?.text.string == "keep is still running; it has a minute.")
  }

  @Test("A hostile post cannot control the terminal of a command")
  func hostile() {
    let post = Post(
      id: "p\u{1B}",
      uid: "m",
      author: "m\u{9B}2J",
      title: "a\u{1B}]0;x\u{7}\nb\0c",
      body: "1\t\u{1B}[2J\n2\u{8}"
    )
    let job = CommandJob(OwnCommand(name: "a", shell: "cat"), on: post)
    #expect(job.input == "1\t[2J\n2\n")
    #expect(job.variables["HEARTH_POST_TITLE"] == "a]0;xbc")
    #expect(job.variables["HEARTH_POST_AUTHOR"] == "m2J")
    #expect(job.variables["HEARTH_POST_ID"] == "p")
  }

  @Test("Output is shown as a page; without any, a message says that the command is done")
  func output() {
    var model = model("[commands.keep]\nrun = \"cat\"\nkey = \"X\"")
    model.type("X")
    model.send(.commandEnded(CommandOutcome(name: "keep", output: " \n")))
    #expect(model.help == nil)
    #expect(model.message?.text.string == "keep is done")
    model.type("X")
    model.send(.commandEnded(CommandOutcome(name: "keep", output: "one\n\u{1B}[2Jtwo\n")))
    #expect(model.help?.scroll.lines.map(\.string).prefix(2) == ["one", "␛[2Jtwo"])
  }

  @Test("The page of a command waits until nothing is typed", arguments: ["c", "/", ":", "\rc"])
  func outputWhileTyping(keys: String) {
    var model = model("[commands.keep]\nrun = \"cat\"\nkey = \"X\"")
    model.type("X")
    for key in keys { model.type(key == "\r" ? .key(.enter) : .text(String(key))) }
    model.type("a")
    model.send(.commandEnded(CommandOutcome(name: "keep", output: "one\n")))
    #expect(model.help == nil)
    #expect(model.message?.text.string == "keep is done; its output comes after what you type")
    model.type("b")
    #expect(model.unsentDrafts.map(\.title) == (keys == "c" ? ["ab"] : []))
    model.type(.escape)
    if keys == "c" { model.type("y") }
    #expect(model.help?.scroll.lines.first?.string == "one")
  }

  @Test("A failure shows the status and the last line")
  func failure() {
    var model = model("[commands.keep]\nrun = \"cat\"\nkey = \"X\"")
    model.type("X")
    let outcome = CommandOutcome(
      name: "keep",
      output: "first\nlast\n\n",
      failure: "ended with status 3"
    )
    #expect(model.send(.commandEnded(outcome)) == [.terminal(.bell)])
    #expect(model.message?.text.string == "keep ended with status 3: last")
    #expect(model.help == nil)
  }

  @Test("A command can be typed, found in the palette, and a post piped to one once")
  func typing() throws {
    var model = model("[commands]\nwords = \"wc -w\"")
    #expect(model.send(.command("words")).first?.environmentAction != nil)
    model.send(.commandEnded(CommandOutcome(name: "words")))
    guard case .run(let job)? = model.send(.command("pipe sort | head")).first?.environmentAction
    else { throw Unexpected("nothing ran") }
    #expect(job.shell == "sort | head")
    model.send(.commandEnded(CommandOutcome(name: "sort")))
    model.type("!")
    #expect(model.commandLine?.field.text == "pipe ")
  }

  @Test("The printed configuration reads as the same commands; a recording has no shell lines")
  func kept() throws {
    let text =
      "[commands.keep]\nrun = \"cat >\\\"a\\\\nb\\\"\\n\"\nkey = \"g k\"\noutput = \"none\""
    let first = read(text)
    let second = read(ConfigurationText.text(of: first))
    #expect(second.commands.map(\.shell) == first.commands.map(\.shell))
    #expect(second.commands.map(\.keys?.keys) == ["g k"])
    #expect(second.commands.map(\.output) == [.none])
  }
}

extension Effect {
  fileprivate var environmentAction: EnvironmentAction? {
    if case .environment(let action) = self { action } else { nil }
  }
}
