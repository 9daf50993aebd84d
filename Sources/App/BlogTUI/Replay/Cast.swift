import BlogModel
private import Foundation

/// A recording as a film that web pages and terminals play: asciicast, version 2.
///
/// Its first line is a header, each further one an event: `[seconds, "o", bytes]` for output and
/// `[seconds, "r", "80x24"]` for a new size.
package enum Cast {
  private struct Header: Encodable {
    let version = 2
    let width: Int
    let height: Int
    let timestamp: Int64
    let title: String
    let env = ["TERM": "xterm-256color"]
  }

  /// Gives out the lines of the film, each with its newline.
  ///
  /// - Parameters:
  ///   - recording: What is filmed.
  ///   - idleLimit: The longest time between two pictures, in milliseconds.
  ///   - write: Takes the lines.
  /// - Throws: What `write` throws.
  package static func write<Failure: Error>(
    _ recording: Recording,
    idleLimit: Int64,
    to write: (String) throws(Failure) -> Void
  ) throws(Failure) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var replay = Replay(recording)
    var picture = ANSIPicture()
    var size = replay.model.size
    let header = Header(
      width: size.width,
      height: size.height,
      timestamp: recording.start.now / 1_000,
      title: "hearth, \(recording.start.me.name)"
    )
    try write(json(header, encoder))
    var time: Int64 = 0
    var before: Int64 = 0
    while true {
      // One terminal shows one picture for all that happens at the same time.
      while !replay.isAtEnd, replay.elapsed(at: replay.position + 1) == replay.elapsed {
        replay.move(by: 1)
        if replay.model.size != size { break }
      }
      time += min(idleLimit, replay.elapsed - before)
      before = replay.elapsed
      let screen = replay.screen
      if screen.size != size {
        size = screen.size
        try write(event(time, "r", "\(size.width)x\(size.height)", encoder))
      }
      let bytes = picture.text(for: screen)
      if !bytes.isEmpty { try write(event(time, "o", bytes, encoder)) }
      if replay.isAtEnd { return }
      replay.move(by: 1)
    }
  }

  private static func event(
    _ time: Int64,
    _ code: String,
    _ data: String,
    _ encoder: JSONEncoder
  ) -> String {
    let digits = String(time % 1_000)
    let seconds = "\(time / 1_000)." + String(repeating: "0", count: 3 - digits.count) + digits
    let text = json(data, encoder)
    return "[\(seconds), \"\(code)\", \(text.dropLast())]\n"
  }

  private static func json(_ value: some Encodable, _ encoder: JSONEncoder) -> String {
    guard let data = try? encoder.encode(value) else {
      assertionFailure("text that is no JSON")
      return "\"\"\n"
    }
    return String(decoding: data, as: UTF8.self) + "\n"
  }
}
