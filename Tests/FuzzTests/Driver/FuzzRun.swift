/// The entry point of libFuzzer for programs that have a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Lets libFuzzer generate inputs for one target until one breaks a property.
enum FuzzRun {
  // Safety: written once before libFuzzer starts, whose callback can capture nothing.
  nonisolated(unsafe) private static var target = FuzzTarget.json

  /// Runs as the arguments specify; a broken property ends the process.
  static func run(
    _ target: FuzzTarget,
    count: CInt,
    arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
  ) -> CInt {
    self.target = target
    var count = count
    var arguments = arguments
    return runFuzzer(&count, &arguments) { bytes, count in
      do throws(BrokenProperty) {
        try FuzzRun.target.check(Array(UnsafeBufferPointer(start: bytes, count: count)))
      } catch {
        fatalError("\(error)")
      }
      return 0
    }
  }
}
