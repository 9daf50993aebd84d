import DurableFiles
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
}
