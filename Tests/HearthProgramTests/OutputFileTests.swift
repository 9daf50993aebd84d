import Foundation
import TestSupport
import Testing

@testable import HearthProgram

@Suite("Output files")
struct OutputFileTests {
  private let place: TemporaryDirectory

  init() throws {
    place = try TemporaryDirectory()
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: place.file(name), encoding: .utf8)
  }

  private func write(_ text: String, to name: String) throws {
    let file = try OutputFile(place.file(name))
    try file.write(text)
    try file.finish()
  }

  @Test("A symbolic link stays one, and the file that it leads to is replaced")
  func links() throws {
    #expect(mkdir(place.file("d"), 0o700) == 0)
    #expect(symlink("d/there", place.file("relative")) == 0)
    #expect(symlink(place.file("relative"), place.file("chain")) == 0)
    for (name, content) in [("relative", "new"), ("chain", "newer")] {
      try write(content, to: name)
      #expect(try text("d/there") == content)
    }
    for name in ["relative", "chain"] {
      var status = stat()
      #expect(lstat(place.file(name), &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
    }
    #expect(symlink("circle", place.file("circle")) == 0)
    #expect(throws: CommandFailure.self) { try write("x", to: "circle") }
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.path)
    #expect(Set(names) == ["d", "d/there", "relative", "chain", "circle"])
  }

  @Test("A new file is its owner's alone; one that is replaced stays open to whom it was")
  func mode() throws {
    for (name, mode) in [("new", mode_t(0o600)), ("shared", 0o664)] {
      if name == "shared" {
        try write("old", to: name)
        #expect(chmod(place.file(name), mode) == 0)
      }
      try write("text", to: name)
      var status = stat()
      #expect(stat(place.file(name), &status) == 0 && status.st_mode & 0o777 == mode)
    }
  }

  @Test("The files of a database are protected, also behind a link, and no others beside them")
  func database() throws {
    for name in ["database.sqlite", "lock"] { try write("", to: name) }
    #expect(symlink(place.file("database.sqlite"), place.file("link")) == 0)
    for name in ["link", "database.sqlite", "database.sqlite-wal", "lock", "keys.json"] {
      #expect(throws: CommandFailure.self) { try DatabaseFiles.protect(place.file(name)) }
    }
    for name in ["database.sqlite.bak", "database.sqlite.json", "copy"] {
      try DatabaseFiles.protect(place.file(name))
    }
  }

  @Test("A file that another process finishes meanwhile is not truncated")
  func finishedMeanwhile() throws {
    let path = place.file("f")
    var first: OutputFile? = try OutputFile(path)
    #expect(throws: CommandFailure.self) { try OutputFile(path) }
    try first?.write("complete")
    let next = try OutputFile.openLocked(path + ".partial", for: path) {
      try? first?.finish()
      first = nil
    }
    defer { close(next) }
    #expect(ftruncate(next, 0) == 0)
    #expect(try text("f") == "complete")
  }

  @Test("A pipe is written to if somebody reads it")
  func pipe() throws {
    let path = place.file("pipe")
    try #require(mkfifo(path, 0o600) == 0)
    #expect(throws: CommandFailure.self) { try OutputFile(path) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    defer { close(reader) }
    let file = try OutputFile(path)
    try file.write("text")
    try file.finish()
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(read(reader, &bytes, bytes.count) == 4)
    // Nothing else has the name of the pipe now.
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
  }

  @Test("A text whose name leads to a file is written beside it")
  func kept() throws {
    try write("mine", to: "f.txt")
    #expect(symlink("f.txt", place.file("link.txt")) == 0)
    let written = TextFile.write("new", to: place.file("link.txt"))
    #expect((try? written.get()) == place.file("link-2.txt"))
    #expect(try text("f.txt") == "mine")
  }
}
