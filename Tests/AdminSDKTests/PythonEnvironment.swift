import Foundation

/// A virtual environment that contains firebase-admin, created once and kept with the build.
struct PythonEnvironment: Sendable {
  /// The release that is installed; the tests are about its behaviour.
  private static let requirement = "firebase-admin==7.7.0"

  /// The path of the Python interpreter.
  let python: String

  /// Why the environment is unavailable; tests are then skipped.
  struct Unavailable: Error, CustomStringConvertible {
    let description: String
  }

  static let shared = Result { () throws(Unavailable) in try PythonEnvironment() }

  /// The message when a test is skipped.
  static var problem: String {
    switch shared {
    case .success: "nothing is missing"
    case .failure(let problem): "firebase-admin cannot be run: \(problem)"
    }
  }

  static var isAvailable: Bool { (try? shared.get()) != nil }

  static let package = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private init() throws(Unavailable) {
    let folder = Self.package.appendingPathComponent(".build/firebase-admin")
    python = folder.appendingPathComponent("bin/python").path
    let mark = folder.appendingPathComponent(Self.requirement)
    if FileManager.default.fileExists(atPath: mark.path) { return }
    try? FileManager.default.removeItem(at: folder)
    try Self.run("/usr/bin/env", ["python3", "-m", "venv", folder.path], "python3 -m venv")
    try Self.run(
      python,
      [
        "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "2",
        "--only-binary", ":all:", Self.requirement,
      ],
      "pip install \(Self.requirement)"
    )
    guard FileManager.default.createFile(atPath: mark.path, contents: nil) else {
      throw Unavailable(description: "\(mark.path) cannot be written")
    }
  }

  /// Runs a class of the tests written in Python.
  ///
  /// - Returns: The exit status and the output.
  func run(_ suite: String, host: String) throws -> (status: Int32, output: String) {
    try run(
      ["-m", "unittest", "-v", "admin_sdk.\(suite)"],
      variables: ["FIREBASE_DATABASE_EMULATOR_HOST": host]
    )
  }

  /// Runs a Python program.
  ///
  /// - Parameters:
  ///   - arguments: The arguments of the interpreter.
  ///   - variables: Additional environment variables.
  /// - Returns: The exit status and the output.
  /// - Throws: The error that keeps the interpreter from starting.
  func run(
    _ arguments: [String],
    variables: [String: String]
  ) throws -> (status: Int32, output: String) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = arguments
    process.currentDirectoryURL = Self.package.appendingPathComponent("Tests/AdminSDKTests")
    process.environment = [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
      "PYTHONDONTWRITEBYTECODE": "1",
      "LANG": "C.UTF-8",
    ].merging(variables) { $1 }
    let output = Pipe()
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return (process.terminationStatus, String(decoding: text, as: UTF8.self))
  }

  private static func run(
    _ program: String,
    _ arguments: [String],
    _ name: String
  ) throws(Unavailable) {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw Unavailable(description: "\(name) cannot be started: \(error)")
    }
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Unavailable(description: "\(name) failed with status \(process.terminationStatus)")
    }
  }
}
