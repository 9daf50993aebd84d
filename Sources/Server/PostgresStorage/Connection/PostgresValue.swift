import Foundation

/// A parameter of a statement, in PostgreSQL's binary format.
enum PostgresValue {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])
  case uuid(UUID)
  /// The null of a column of bytes: the type of the parameter must not depend on the value.
  case noBytes
  case integers([Int64])
  case texts([String])
  case byteArrays([[UInt8]?])

  /// The number of the type in PostgreSQL; with 0, PostgreSQL infers the type.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .integer: Self.bigint
    case .text: Self.string
    case .bytes, .noBytes: Self.bytea
    case .uuid: 2_950
    case .integers: 1_016
    case .texts: 1_009
    case .byteArrays: 1_001
    }
  }

  private static let bytea: UInt32 = 17
  private static let bigint: UInt32 = 20
  private static let string: UInt32 = 25

  /// Appends the bytes of the value, and returns whether it has any: null has none.
  func append(to bytes: inout [UInt8]) -> Bool {
    switch self {
    case .null, .noBytes: return false
    case .integer(let value): Self.append(value, to: &bytes)
    case .text(let text): bytes.append(contentsOf: text.utf8)
    case .bytes(let value): bytes.append(contentsOf: value)
    case .uuid(let id): withUnsafeBytes(of: id.uuid) { bytes.append(contentsOf: $0) }
    case .integers(let values):
      Self.beginArray(of: Self.bigint, count: values.count, in: &bytes)
      for value in values {
        Self.append(Int32(8), to: &bytes)
        Self.append(value, to: &bytes)
      }
    case .texts(let values):
      Self.beginArray(of: Self.string, count: values.count, in: &bytes)
      for value in values {
        Self.append(Int32(value.utf8.count), to: &bytes)
        bytes.append(contentsOf: value.utf8)
      }
    case .byteArrays(let values):
      Self.beginArray(of: Self.bytea, count: values.count, in: &bytes)
      for value in values {
        Self.append(value.map { Int32($0.count) } ?? -1, to: &bytes)
        if let value { bytes.append(contentsOf: value) }
      }
    }
    return true
  }

  private static func beginArray(of type: UInt32, count: Int, in bytes: inout [UInt8]) {
    append(Int32(count == 0 ? 0 : 1), to: &bytes)
    append(Int32(1), to: &bytes)
    append(Int32(bitPattern: type), to: &bytes)
    guard count > 0 else { return }
    append(Int32(count), to: &bytes)
    append(Int32(1), to: &bytes)
  }

  /// Appends a number, highest byte first.
  static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
