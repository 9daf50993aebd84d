import Foundation
import Testing

@testable import HearthLab

@Suite("ChildProcess")
struct ChildProcessTests {
  @Test("A child process inherits only the standard file descriptors")
  func inheritance() async throws {
    // Inherited by every child program, unless that is prevented.
    let kept = open("/dev/null", O_RDONLY)
    defer { close(kept) }
    #expect(fcntl(kept, F_GETFD) & FD_CLOEXEC == 0)
    let listing = try #require(Tool.output(of: ["ls", "/proc/self/fd"]))
    // The three standard files, and the directory that is being listed.
    #expect(listing.split(separator: "\n").count == 4, "\(listing)")
  }
}
