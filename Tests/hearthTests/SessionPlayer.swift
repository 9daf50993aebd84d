import Foundation
import TestSupport

/// Plays the lines of a ``Transcript`` to a shell in a sandbox, where `hearth` is the program.
///
/// A line is a command of bash. Below it stands what it prints, `<` to standard output and `=` to
/// standard error, and behind it its status, unless that is 0. What differs from run to run is
/// replaced: the home of the sandbox by `~`, automatic keys by `<1>`, `<2>`, …, times by `TIME`, and
/// the numbers of processes and ports by `PID` and `PORT`.
struct SessionPlayer: TranscriptPlayer {
  private let sandbox: Sandbox
  private var lines: ArraySlice<String>
  private var number = 0
  /// The automatic keys so far.
  private var keys: [String] = []

  static func isStart(_ line: String) -> Bool { false }

  init(_ lines: [String]) throws {
    sandbox = try Sandbox()
    self.lines = lines[...]
    let files = FileManager.default
    for folder in ["bin", "lines"] {
      try files.createDirectory(
        atPath: sandbox.directory + "/" + folder,
        withIntermediateDirectories: true
      )
    }
    try files.createSymbolicLink(
      atPath: sandbox.directory + "/bin/hearth",
      withDestinationPath: Sandbox.program
    )
    var environment = sandbox.environment
    environment["PATH"] = "\(sandbox.directory)/bin:\(environment["PATH"] ?? "")"
    environment["PACKAGE"] = Sandbox.package
    // One shell, so that a line can use what one above has set.
    let script = lines.enumerated().map { number, line in
      "{ \(line)\n} > ~/lines/\(number).out 2> ~/lines/\(number).err; echo $? > ~/lines/\(number)"
    }
    let file = try sandbox.write(
      "cd ~; set -o pipefail; trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT\n"
        + script.joined(separator: "\n"),
      to: "lines/script"
    )
    try sandbox.run([file], of: "/bin/bash", environment: environment)
  }

  mutating func outcome(of line: String) throws -> Transcript.Outcome {
    guard lines.popFirst() == line else { throw Transcript.UnknownLine(text: line) }
    let file = sandbox.directory + "/lines/\(number)"
    number += 1
    let status = try text(of: file).first ?? ""
    let printed = try text(of: file + ".out").map { $0.isEmpty ? "<" : "< " + $0 }
    let reported = try text(of: file + ".err").map { $0.isEmpty ? "=" : "= " + $0 }
    return Transcript.Outcome(lines: printed + reported, answer: status == "0" ? nil : status)
  }

  /// The lines of a file, without what differs from run to run.
  private mutating func text(of file: String) throws -> [String] {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    var text = String(decoding: bytes, as: UTF8.self)
      .replacing(sandbox.directory, with: "~")
      .replacing(Sandbox.package, with: "PACKAGE")
      .replacing(#/\b1[6-9][0-9]{11}\b|\b[0-9.]+ s$/#.anchorsMatchLineEndings(), with: "TIME")
      .replacing(#/\bprocess [0-9]+/#, with: "process PID")
      .replacing(#/127\.0\.0\.1:[3-6][0-9]{4}\b/#, with: "127.0.0.1:PORT")
    for match in text.matches(of: #/-[A-Z][-0-9A-Z_a-z]{18}(?![-0-9A-Z_a-z])/#) {
      let key = String(match.0)
      if !keys.contains(key) { keys.append(key) }
    }
    for (number, key) in keys.enumerated() { text = text.replacing(key, with: "<\(number + 1)>") }
    var lines = SceneText.shortened(text).components(separatedBy: "\n")
    if lines.last == "" { lines.removeLast() }
    return lines
  }
}
