import CPostgres
import Foundation

final class PostgresRows {
  private let result: OpaquePointer
  private let library: PostgresLibrary
  let count: Int

  /// Takes ownership of a result.
  init(_ result: OpaquePointer, library: PostgresLibrary) {
    self.result = result
    self.library = library
    count = Int(library.functions.ntuples(result))
  }

  deinit { library.functions.clear(result) }

  func isNull(_ row: Int, column: Int) -> Bool {
    library.functions.getisnull(result, Int32(row), Int32(column)) != 0
  }

  /// Lends the bytes of a column, which are valid within the closure.
  func withBytes<Value>(
    _ row: Int,
    column: Int,
    _ body: (UnsafeRawBufferPointer) throws -> Value
  ) rethrows -> Value {
    // Safety: the bytes belong to the result, which lives as long as this object.
    let start = library.functions.getvalue(result, Int32(row), Int32(column))
    let count = Int(library.functions.getlength(result, Int32(row), Int32(column)))
    return try withExtendedLifetime(self) {
      try body(UnsafeRawBufferPointer(start: start, count: count))
    }
  }

  /// The value of a column of bytes or text.
  func bytes(_ row: Int, column: Int) -> [UInt8] { withBytes(row, column: column) { Array($0) } }

  func text(_ row: Int, column: Int) -> String {
    withBytes(row, column: column) { String(decoding: $0, as: UTF8.self) }
  }

  /// The value of a column of integers, 32 or 64 bits wide.
  func integer(_ row: Int, column: Int) -> Int64 {
    withBytes(row, column: column) { bytes in
      let value = bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : value
    }
  }

  /// The value of a column of UUIDs; nil if it is something else.
  func uuid(_ row: Int, column: Int) -> UUID? {
    withBytes(row, column: column) { bytes in
      bytes.count == 16 ? UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)) : nil
    }
  }

  func bool(_ row: Int, column: Int) -> Bool { withBytes(row, column: column) { $0.first == 1 } }
}

struct PostgresLibrary: @unchecked Sendable {
  // Safety: these are pointers to functions that any thread may call; each connection is used by
  // one at a time.

  /// The functions, under their names in the library.
  let functions: CPostgresLibrary

  /// Loads the library, or throws an error that names the package to install.
  init() throws(PostgresFailure) {
    var reason = [CChar](repeating: 0, count: 512)
    guard let functions = CPostgresLoad(&reason, reason.count) else {
      let text = String(
        decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
        as: UTF8.self
      )
      throw PostgresFailure(own: text)
    }
    self.functions = functions.pointee
  }
}
