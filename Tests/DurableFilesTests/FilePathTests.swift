import DurableFiles
import Foundation
import TestSupport
import Testing

@Suite("File paths")
struct FilePathTests {
  @Test(
    "A path is split into its directory and its name",
    arguments: [
      ("/a/b", "/a", "b"), ("a/b", "a", "b"), ("a", ".", "a"), ("ab", ".", "ab"), ("/", "/", "/"),
      ("/a", "/", "a"), ("//a", "/", "a"), ("a//b/", "a", "b"), ("", ".", ""), (".", ".", "."),
      ("/a/\u{301}b", "/a", "\u{301}b"), ("/a.d/b.c", "/a.d", "b.c"),
    ]
  )
  func parts(path: String, directory: String, name: String) {
    #expect(FilePath.directory(of: path) == directory)
    #expect(FilePath.name(of: path) == name)
  }

  @Test(
    "The state is where the environment says, if the path is absolute",
    arguments: [
      (["XDG_STATE_HOME": "/s", "HOME": "/h"], "/s"),
      (["XDG_STATE_HOME": "s", "HOME": "/h"], "/h/.local/state"),
      (["HOME": "/h"], "/h/.local/state"),
    ]
  )
  func state(environment: [String: String], directory: String) {
    #expect(FilePath.stateDirectory(environment) == directory)
  }

  @Test("Only what is known to be missing does not exist")
  func existence() throws {
    let place = try TemporaryDirectory()
    let file = place.file("f")
    #expect(try !FilePath.exists(file))
    try Data().write(to: URL(fileURLWithPath: file))
    #expect(try FilePath.exists(file))
    #expect(try !FilePath.exists(file + "/g"))
    #expect(symlink("loop", place.file("loop")) == 0)
    #expect(throws: FileFailure(ELOOP, action: "cannot read \(place.file("loop"))")) {
      try FilePath.exists(place.file("loop"))
    }
  }
}
