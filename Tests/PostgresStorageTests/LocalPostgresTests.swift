import Foundation
import HearthLab
import PostgresTestSupport
import Testing

/// The PostgreSQL that tests, the swarm and benchmarks start for themselves.
@Suite("A local PostgreSQL for tests", .needsPostgres)
struct LocalPostgresTests {
  @Test("It does not inherit file descriptors from the program that starts it")
  func inheritsNothing() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { close(ends[0]) }
    let postgres = try PostgresServer()
    postgres.stop(isCrash: true)
    try postgres.start()
    close(ends[1])
    var reader = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&reader, 1, 10_000) == 1)
    #expect(reader.revents & Int16(POLLHUP) != 0, "somebody else has it as well")
    postgres.stop()
  }
}
