import FaultyStorage
import Foundation
import StoreTestSupport
import TestSupport
import Testing

@testable import RealtimeServer

@Suite("An interrupted first start")
struct InterruptedStartTests {
  /// The files after each operation of a first start: those of a killed process, and those on the
  /// disk after a power loss.
  private func images(
    of start: (_ directory: String) throws -> Void
  ) throws -> Set<[String: [UInt8]]> {
    let directory = try TemporaryDirectory()
    let store = directory.store
    let disk = FaultyDisk(directory: store)
    disk.expectPowerLoss()
    let images = Record<[String: [UInt8]]>()
    disk.observe { moment in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: store)) ?? []
      let files = names.filter { !$0.hasSuffix("-shm") && $0 != "lock" }.compactMap { name in
        FileManager.default.contents(atPath: "\(store)/\(name)").map { (name, [UInt8]($0)) }
      }
      images.append(Dictionary(uniqueKeysWithValues: files))
      for kept in [0, 1, 2] {
        var number = 0
        images.append(
          disk.filesAfterPowerLoss {
            number += 1
            return number % 2 < kept
          }
        )
      }
    }
    try start(store)
    return Set(images.elements)
  }

  /// Starts anew on each image.
  private func expectStart(
    on images: Set<[String: [UInt8]]>,
    _ start: (TemporaryDirectory) throws -> Void
  ) throws {
    #expect(images.count > 10)
    for files in images {
      let image = try TemporaryDirectory()
      try image.write(files)
      #expect(chmod(image.store, 0o700) == 0)
      for name in files.keys { #expect(chmod("\(image.store)/\(name)", 0o600) == 0) }
      // Its syncs need not wait for the real disk.
      _ = FaultyDisk(directory: image.store)
      #expect(throws: Never.self, "\(files.mapValues(\.count))") { try start(image) }
    }
  }

  @Test("is repeated by the next start of a database, wherever it stopped")
  func store() throws {
    var model = StoreModel(seed: 1)
    let batch = model.nextBatch()
    try expectStart(on: images { try SQLiteTreeStore(directory: $0, now: 0).close() }) { image in
      if FileManager.default.fileExists(atPath: image.database) {
        #expect(try StoreFile(at: image.store).load() == StoredTree())
      }
      let store = try SQLiteTreeStore(directory: image.store, now: 0)
      try store.commit(batch)
      try store.close()
      #expect(try StoreFile(at: image.store).load().revision == model.revision)
    }
  }

  @Test("is repeated by the next start of the account store, wherever it stopped")
  func accounts() throws {
    try expectStart(on: images { try SQLiteIdentityStore(directory: $0).close() }) { image in
      let store = try SQLiteIdentityStore(directory: image.store)
      try store.apply([.save(Account(database: "hearth", uid: "u", created: 1))])
      try store.close()
    }
  }
}
