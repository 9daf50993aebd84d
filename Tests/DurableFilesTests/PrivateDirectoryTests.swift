import DurableFiles
import Foundation
import TestSupport
import Testing

@Suite("Private directories")
struct PrivateDirectoryTests {
  @Test("New directories, parents included, get mode 0700; existing ones keep theirs")
  func modes() throws {
    let place = try TemporaryDirectory()
    #expect(chmod(place.path, 0o750) == 0)
    for _ in 1...2 {
      try PrivateDirectory.create(place.file("a//b/c/"))
      #expect(try place.mode("a") == 0o700)
      #expect(try place.mode("a/b") == 0o700)
      #expect(try place.mode("a/b/c") == 0o700)
      #expect(try place.mode("") == 0o750)
    }
  }

  @Test("A directory is created private, without a later chmod")
  func firstMoment() throws {
    let place = try TemporaryDirectory()
    let watch = try FileWatch(place.path)
    try PrivateDirectory.create(place.file("a"))
    #expect(watch.events() == [.made("a")])
    // A less careful way, which changes the mode afterwards, would be noticed.
    #expect(mkdir(place.file("b"), 0o777) == 0 && chmod(place.file("b"), 0o700) == 0)
    #expect(watch.events() == [.made("b"), .changed("b")])
  }

  @Test("A relative path is resolved against the working directory")
  func relative() throws {
    let name = "t-\(UUID().uuidString)"
    defer { rmdir(name) }
    try PrivateDirectory.create(name)
    #expect(rmdir(FileManager.default.currentDirectoryPath + "/" + name) == 0)
  }

  @Test("The error names the path that could not be created")
  func inTheWay() throws {
    let place = try TemporaryDirectory()
    try Data().write(to: URL(fileURLWithPath: place.file("a")))
    #expect {
      try PrivateDirectory.create(place.file("a/b"))
    } throws: { error in
      error as? FileFailure
        == FileFailure(ENOTDIR, action: "cannot create the directory \(place.file("a/b"))")
    }
    #expect {
      try PrivateDirectory.create("/proc/none/b")
    } throws: { error in
      error as? FileFailure == FileFailure(ENOENT, action: "cannot create the directory /proc/none")
    }
  }
}
