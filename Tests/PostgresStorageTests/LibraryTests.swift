import Glibc
import HearthLab
import PostgresTestSupport
import Testing

@testable import PostgresStorage

@Suite("libpq", .needsPostgres)
struct LibraryTests {
  /// Handlers of `exit` run in reverse order, while other threads still use the library.
  @Test("The OpenSSL under it keeps its memory while the process exits")
  func exit() async {
    await #expect(processExitsWith: .exitCode(7)) {
      atexit { _exit(LibraryTests.initializesOpenSSL() ? 7 : 8) }
      _ = try PostgresLibrary()
      #expect(LibraryTests.initializesOpenSSL())
      Glibc.exit(0)
    }
  }

  /// Whether OpenSSL can be used.
  private static func initializesOpenSSL() -> Bool {
    typealias Initialize = @convention(c) (UInt64, OpaquePointer?) -> CInt
    guard let library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_NOLOAD),
      let symbol = dlsym(library, "OPENSSL_init_crypto")
    else { return false }
    let loadsErrorTexts: UInt64 = 2
    return unsafeBitCast(symbol, to: Initialize.self)(loadsErrorTexts, nil) == 1
  }
}
