import CPostgres
import RealtimeCore

/// The rows that a statement has given.
final class PostgresRows {
  private let result: OpaquePointer
  private let library: PostgresLibrary
  /// How many rows there are.
  let count: Int

  /// Takes a result over.
  init(_ result: OpaquePointer, library: PostgresLibrary) {
    self.result = result
    self.library = library
    count = Int(library.functions.ntuples(result))
  }

  deinit { library.functions.clear(result) }

  /// How many rows the statement has changed.
  var changedCount: Int { Int(String(cString: library.functions.cmdTuples(result))) ?? 0 }

  /// Whether a column of a row is null.
  func isNull(_ row: Int, column: Int) -> Bool {
    library.functions.getisnull(result, Int32(row), Int32(column)) != 0
  }

  /// The bytes of a column, valid within the closure.
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

  /// A column of bytes or text.
  func bytes(_ row: Int, column: Int) -> [UInt8] { withBytes(row, column: column) { Array($0) } }

  /// A column of text.
  func text(_ row: Int, column: Int) -> String {
    withBytes(row, column: column) { String(decoding: $0, as: UTF8.self) }
  }

  /// A column of whole numbers, 32 or 64 bits wide.
  func integer(_ row: Int, column: Int) -> Int64 {
    withBytes(row, column: column) { bytes in
      let value = bytes.reduce(Int64(0)) { $0 << 8 | Int64($1) }
      return bytes.count == 4 ? Int64(Int32(truncatingIfNeeded: value)) : value
    }
  }

  /// A column of truth.
  func bool(_ row: Int, column: Int) -> Bool { withBytes(row, column: column) { $0.first == 1 } }
}

/// The functions of libpq.
struct PostgresLibrary: @unchecked Sendable {
  // Safety: pointers to functions that any thread may call; each connection is used by one at a time.

  /// The functions, by their names in the library.
  let functions: CPostgresLibrary

  /// Loads the library.
  ///
  /// - Throws: ``PostgresFailure`` that says which package has it, when it is not installed.
  init() throws(PostgresFailure) {
    var reason = [CChar](repeating: 0, count: 512)
    guard let functions = CPostgresLoad(&reason, reason.count) else {
      let text = String(
        decoding: reason.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
        as: UTF8.self
      )
      throw PostgresFailure(text, state: "HEARTH", isLost: false)
    }
    self.functions = functions.pointee
  }
}
