import Glibc

/// How much memory a process has, as the kernel counts it.
enum ResidentMemory {
  /// The bytes that this process uses, after what is free has been given back.
  static func bytes() -> Int {
    // The C library's header of this function belongs to no module.
    if let symbol = dlsym(nil, "malloc_trim") {
      // Safety: this is the function's type in C.
      _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> Int32).self)(0)
    }
    return bytes(of: "self")
  }

  /// The bytes that another process has.
  static func bytes(of process: String) -> Int {
    guard let file = fopen("/proc/\(process)/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The bytes that another process has and that no file on the disk could give back.
  static func anonymousBytes(of process: String) -> Int {
    guard let file = fopen("/proc/\(process)/status", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
      let text = String(
        decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
        as: UTF8.self
      )
      let words = text.split { $0 == " " || $0 == "\t" }
      if words.first == "RssAnon:", words.count > 1 { return (Int(words[1]) ?? 0) * 1_024 }
    }
    return 0
  }
}
