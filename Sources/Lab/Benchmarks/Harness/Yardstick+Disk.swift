import Glibc

extension Yardstick {
  /// Appending 300 bytes to a file and waiting for the disk, over and over.
  static func disk(in place: Place) -> Yardstick {
    Yardstick("append + fdatasync") {
      let folder = try TemporaryFolder(in: place.folder)
      return {
        let file = open("\(folder.path)/log", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw LoadError("\(folder.path) cannot be written") }
        defer { close(file) }
        let record = [UInt8](repeating: 7, count: 300)
        let clock = ContinuousClock()
        var samples: [UInt32] = []
        let begin = clock.now
        var last = begin
        while last - begin < .milliseconds(500) {
          guard write(file, record, record.count) == record.count, fdatasync(file) == 0 else {
            throw LoadError("the disk cannot be written")
          }
          let now = clock.now
          samples.append(UInt32(clamping: Int((now - last).nanoseconds)))
          last = now
        }
        return .rate(samples.count, in: last - begin, samples: samples)
      }
    }
  }
}
