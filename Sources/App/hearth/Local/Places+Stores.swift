import Foundation
import SQLiteStorage

extension Places {
  /// The databases of the data directory.
  func stores(_ options: StoreOptions = StoreOptions()) -> SQLiteTreeStores {
    SQLiteTreeStores(directory: data, options: options) {
      Int64(Date().timeIntervalSince1970 * 1_000)
    }
  }
}
