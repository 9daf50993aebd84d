package import ArgumentParser

/// The command line of `tutor`, which `hearth` documents and `hearth-lab` runs.
package enum TutorOptions {
  package static let configuration = CommandConfiguration(
    commandName: "tutor",
    abstract: "Learn the blog in five minutes, with a second person at a terminal of their own.",
    discussion: """
      Opens a blog of its own with two terminals on one screen: yours, and that of robin, who answers \
      you. Lines at the top say what to do; each lesson is over when you have done it. F8 skips a \
      lesson, F7 goes back one, q in a list and ^C leave. Your own blog is not touched, and nothing is \
      left behind.
      """
  )
}
