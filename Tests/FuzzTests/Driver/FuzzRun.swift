/// The entry of libFuzzer for programs that have a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Lets libFuzzer make inputs for one target until it finds one that breaks a property.
enum FuzzRun {
  // Safety: written once before libFuzzer starts, whose callback can capture nothing.
  nonisolated(unsafe) private static var target = FuzzTarget.json

  /// Runs to the end that the arguments ask for; a broken property ends the process.
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
