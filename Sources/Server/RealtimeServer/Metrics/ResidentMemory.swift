private import Glibc

/// How much memory this process uses.
enum ResidentMemory {
  /// The memory in mebibytes, or 0 when the system does not tell.
  @Sendable static func mebibytes() -> Int {
    guard let file = fopen("/proc/self/statm", "re") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 128)
    guard fgets(&text, Int32(text.count), file) != nil else { return 0 }
    let fields = String(
      decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
      as: UTF8.self
    )
    .split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { return 0 }
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_048_576
  }

  /// Gives the system back what the C library keeps of memory that is free.
  static func giveBack() {
    // The C library's header of this function belongs to no module.
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    // Safety: this is the function's type in C.
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
  }
}
