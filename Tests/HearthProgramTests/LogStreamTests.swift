import Foundation
import Testing

@testable import HearthProgram

@Suite("A log without a reader")
struct LogStreamTests {
  /// The two ends of a pipe.
  private struct Ends {
    let reader: Int32
    let writer: Int32

    init() throws {
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      (reader, writer) = (ends[0], ends[1])
    }

    /// Reads lines until one of them ends so.
    func lines(until last: String) -> [String] {
      var bytes: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let end = Array((last + "\n").utf8)
      while !bytes.suffix(end.count).elementsEqual(end) {
        let count = read(reader, &buffer, buffer.count)
        if count <= 0 { break }
        bytes += buffer[..<count]
      }
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    var hasRoom: Bool {
      var end = pollfd(fd: writer, events: Int16(POLLOUT), revents: 0)
      return poll(&end, 1, 0) > 0
    }

    func close() {
      Foundation.close(reader)
      Foundation.close(writer)
    }
  }

  private let missing: @Sendable (Int) -> String = { "\($0) missing\n" }

  @Test("Writers never wait, and the reader gets what fit and the number of lost lines")
  func stalled() async throws {
    let ends = try Ends()
    defer { ends.close() }
    let log = LogStream(to: ends.writer, capacity: 10_000)
    // Until the pipe is full, and then more than the log has room for.
    var count = 0
    func append() {
      count += 1
      log.append("\(count)\n", missing: missing)
    }
    while ends.hasRoom { append() }
    for _ in 0..<10_000 { append() }
    #expect(!log.finish(within: .milliseconds(10)))
    let reading = Task.detached { ends.lines(until: "end") }
    try #require(log.finish(within: .seconds(60)))
    log.append("end\n", missing: missing)
    let lines = await reading.value
    #expect(lines.last == "end")
    var told = 0
    for line in lines.dropLast() {
      if line.hasSuffix(" missing") {
        told += try #require(Int(line.dropLast(8)))
      } else {
        told += 1
        #expect(line == "\(told)")
      }
    }
    #expect(told == count)
    #expect(lines.count < count)
  }

  @Test("Lost lines are counted where they are missing")
  func place() throws {
    let ends = try Ends()
    defer { ends.close() }
    let log = LogStream(to: ends.writer, capacity: 200_000)
    let long = String(repeating: "x", count: 150_000)
    log.append(long + "\n", missing: missing)
    // It is being written from now on, and does not fit into the pipe.
    var arrived = pollfd(fd: ends.reader, events: Int16(POLLIN), revents: 0)
    try #require(poll(&arrived, 1, -1) == 1)
    for line in [long + "2", long + "3", "4"] { log.append(line + "\n", missing: missing) }
    #expect(ends.lines(until: "4") == [long, long + "2", "1 missing", "4"])
  }

  @Test("A reader that has gone stops no writer")
  func gone() throws {
    signal(SIGPIPE, SIG_IGN)
    let ends = try Ends()
    defer { close(ends.writer) }
    close(ends.reader)
    let log = LogStream(to: ends.writer)
    for number in 1...1_000 { log.append("\(number)\n", missing: missing) }
    #expect(log.finish(within: .seconds(60)))
  }

  @Test("A stream that another program made non-blocking loses nothing")
  func nonblocking() throws {
    let ends = try Ends()
    defer { ends.close() }
    try #require(fcntl(ends.writer, F_SETFL, O_NONBLOCK) == 0)
    let log = LogStream(to: ends.writer)
    let sent = (1...50_000).map(String.init)
    for line in sent { log.append(line + "\n", missing: missing) }
    #expect(ends.lines(until: "50000") == sent)
  }
}
