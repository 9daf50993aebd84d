import Foundation
import TestSupport
import Testing

@testable import DurableFiles

@Suite("Private files")
struct PrivateFileTests {
  private let place: TemporaryDirectory

  init() throws { place = try TemporaryDirectory() }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  // MARK: Reading

  @Test("A missing file is told apart from one that cannot be read")
  func read() throws {
    let file = place.file("f")
    #expect(try PrivateFile.read(file) == nil)
    let bytes = [UInt8](repeating: 7, count: 200_000)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    #expect(try PrivateFile.read(file) == bytes)
    #expect(throws: FileFailure(EISDIR, action: "cannot read \(place.path)")) {
      try PrivateFile.read(place.path)
    }
    #expect(try PrivateFile.read(file + "/g") == nil)
    #expect(throws: FileFailure(EFBIG, action: "cannot read \(file)")) {
      try PrivateFile.read(file, atMost: 199_999)
    }
    #expect(try PrivateFile.read(file, atMost: 200_000) == bytes)
  }

  @Test("A pipe without a writer is refused, and a device without an end is not read to it")
  func endless() throws {
    let pipe = place.file("p")
    #expect(mkfifo(pipe, 0o600) == 0)
    let reason = "it is a pipe"
    #expect(throws: FileFailure(EINVAL, action: "cannot read \(pipe)", reason: reason)) {
      try PrivateFile.read(pipe)
    }
    #expect(throws: FileFailure(EFBIG, action: "cannot read /dev/zero")) {
      try PrivateFile.read("/dev/zero", atMost: 100_000)
    }
  }

  // MARK: Making

  @Test("A new file gets mode 0600; an existing file stays unchanged")
  func create() throws {
    let file = place.file("f")
    try PrivateFile.create(file, followsLink: true)
    #expect(try place.mode("f") == 0o600)
    #expect(chmod(file, 0o640) == 0)
    try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
    try PrivateFile.create(file, followsLink: false)
    #expect(try text(file) == "mine")
    #expect(try place.mode("f") == 0o640)
  }

  @Test(
    "What root creates belongs to the owner of the directory",
    .enabled(if: geteuid() == 0, "only root can give files away")
  )
  func owner() throws {
    #expect(chown(place.path, 7, 8) == 0)
    try PrivateDirectory.create(place.file("a/b"))
    try PrivateFile.create(place.file("a/b/f"), followsLink: true)
    try PrivateFile.replace(place.file("a/b/g"), with: [1], isDurable: false)
    try PrivateFile.create(place.file("a/b/g"), followsLink: true)
    for name in ["a", "a/b", "a/b/f", "a/b/g"] {
      var status = stat()
      #expect(stat(place.file(name), &status) == 0 && status.st_uid == 7 && status.st_gid == 8)
    }
    try PrivateFile.create(place.file("h"), followsLink: true)
    #expect(chown(place.file("h"), 0, 0) == 0)
    try PrivateFile.create(place.file("h"), followsLink: true)
    var status = stat()
    #expect(stat(place.file("h"), &status) == 0 && status.st_uid == 0, "it was there before")
  }

  @Test(
    "What root has created elsewhere is not given to whoever exchanges the directory",
    .enabled(if: geteuid() == 0, "only root can give files away")
  )
  func exchanged() throws {
    #expect(chown(place.path, 7, 8) == 0)
    let made = place.file("elsewhere")
    try PrivateDirectory.create(made)
    #expect(chown(made, 0, 0) == 0)
    let descriptor = open("\(made)/f", O_RDWR | O_CREAT | O_EXCL, 0o600)
    defer { close(descriptor) }
    for _ in 0..<2 {
      PrivateFile.inheritOwner(descriptor, at: place.file("f"))
      var status = stat()
      #expect(fstat(descriptor, &status) == 0 && status.st_uid == 0)
      // Now with a file of that name.
      try PrivateFile.create(place.file("f"), followsLink: true)
    }
  }

  @Test("Creating a file syncs every directory above it until the file has content")
  func names() throws {
    let real = URL(fileURLWithPath: place.path).resolvingSymlinksInPath().path
    let file = place.file("x/y/f")
    try PrivateDirectory.create(place.file("x/y"))
    #expect(symlink(place.file("x"), place.file("link")) == 0)
    func synchronized(_ file: String) throws -> [String] {
      var names: [String] = []
      try PrivateFile.create(file, followsLink: true) { name throws(FileFailure) in
        names.append(name)
      }
      return names
    }
    // The same holds if the process that created the file ended before the sync, and behind a link.
    for path in [file, file, place.file("link/y/f")] {
      let names = try synchronized(path)
      #expect(names.prefix(3) == [real + "/x/y", real + "/x", real])
      #expect(names.last == "/")
    }
    try Data("x".utf8).write(to: URL(fileURLWithPath: file))
    #expect(try synchronized(file) == [])
  }

  @Test("A failed directory sync is reported")
  func namesNotKept() throws {
    let failure = FileFailure(EIO, action: "cannot write \(place.path)")
    #expect(throws: failure) {
      try PrivateFile.create(place.file("f"), followsLink: true) { _ throws(FileFailure) in
        throw failure
      }
    }
  }

  @Test("A symbolic link is followed only on request")
  func links() throws {
    try Data("elsewhere".utf8).write(to: URL(fileURLWithPath: place.file("target")))
    #expect(symlink(place.file("target"), place.file("f")) == 0)
    try PrivateFile.create(place.file("f"), followsLink: true)
    #expect(throws: FileFailure(ELOOP, action: "cannot open \(place.file("f"))")) {
      try PrivateFile.create(place.file("f"), followsLink: false)
    }
  }

  @Test("The error names the file that could not be created")
  func notMade() throws {
    let path = place.file("none/f")
    #expect(throws: FileFailure(ENOENT, action: "cannot open \(path)")) {
      try PrivateFile.create(path, followsLink: true)
    }
    #expect(FileFailure(ENOENT, action: "").reason == "No such file or directory")
  }

  // MARK: Replacing

  @Test("A file is replaced atomically and is private from the start", arguments: [true, false])
  func replace(isDurable: Bool) throws {
    let file = place.file("f")
    let long = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
    try PrivateFile.replace(file, with: long, isDurable: isDurable)
    let watch = try FileWatch(place.path)
    let reader = try #require(FileHandle(forReadingAtPath: file))
    try PrivateFile.replace(file, with: Array("new".utf8), isDurable: isDurable)
    #expect(watch.events() == [.made("f.new"), .moved("f")])
    #expect(try text(file) == "new")
    #expect(try place.mode("f") == 0o600)
    // A reader that has opened the old file still reads all of it.
    #expect(try reader.readToEnd()?.count == long.count)
    try PrivateFile.replace(file, with: [], isDurable: isDurable)
    #expect(try text(file) == "")
  }

  @Test("Leftovers of an interrupted replacement do no harm")
  func leftover() throws {
    let file = place.file("f")
    try Data("half".utf8).write(to: URL(fileURLWithPath: file + ".new"))
    #expect(chmod(file + ".new", 0o444) == 0)
    try PrivateFile.replace(file, with: Array("whole".utf8), isDurable: true)
    #expect(try text(file) == "whole")
    #expect(try place.mode("f") == 0o600)
    // A link put there by another user is not followed.
    try Data("theirs".utf8).write(to: URL(fileURLWithPath: place.file("other")))
    #expect(symlink(place.file("other"), file + ".new") == 0)
    try PrivateFile.replace(file, with: Array("mine".utf8), isDurable: true)
    #expect(try text(file) == "mine")
    #expect(try text(place.file("other")) == "theirs")
  }

  @Test("A failed replacement leaves everything as it was")
  func notReplaced() throws {
    let file = place.file("f")
    try PrivateDirectory.create(file + "/inside")
    #expect(throws: FileFailure(EISDIR, action: "cannot write \(file)")) {
      try PrivateFile.replace(file, with: [1], isDurable: true)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["f"])
    #expect(throws: FileFailure(ENOENT, action: "cannot write \(place.file("none/f.new"))")) {
      try PrivateFile.replace(place.file("none/f"), with: [1], isDurable: true)
    }
  }

  @Test("A write continues until every byte is written, or reports the error")
  func writeAll() throws {
    var ends: [CInt] = [0, 0]
    #expect(pipe(&ends) == 0)
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let writer = ends[1]
    let thread = Thread {
      #expect(PrivateFile.writeAll(bytes, to: writer) == 0)
      close(writer)
    }
    thread.start()
    let reader = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
    #expect(try reader.readToEnd() == Data(bytes))
    let full = open("/dev/full", O_WRONLY | O_CLOEXEC)
    defer { close(full) }
    #expect(PrivateFile.writeAll(bytes, to: full) == ENOSPC)
    #expect(PrivateFile.writeAll([], to: full) == 0)
  }

  // MARK: Names

  @Test("A strict directory sync reports every failure, a lenient one only disk failures")
  func strictness() throws {
    let missing = place.file("none")
    // Names cannot be synced there.
    for (path, code) in [(missing, ENOENT), ("/proc", EINVAL), ("/dev/null", ENOTDIR)] {
      #expect(throws: FileFailure(code, action: "cannot write \(path)")) {
        try DirectoryNames.synchronize(path)
      }
      try DirectoryNames.synchronizeIfPossible(path)
    }
    try DirectoryNames.synchronize(place.path)
  }
}
