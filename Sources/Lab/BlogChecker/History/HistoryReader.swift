import Foundation

/// Reads what clients have noted.
package enum HistoryReader {
  /// Reads the history of one client.
  ///
  /// - Parameter path: The file.
  /// - Returns: What is in it; half a line that a killed process left is passed over.
  /// - Throws: ``HistoryError`` when it cannot be read, or a line is none.
  package static func client(at path: String) throws(HistoryError) -> ClientHistory {
    guard let data = FileManager.default.contents(atPath: path) else {
      throw HistoryError("\(path) cannot be read")
    }
    let texts = data.split(separator: UInt8(ascii: "\n")).map {
      String(decoding: $0, as: UTF8.self)
    }
    var lines: [HistoryLine] = []
    var torn: (number: Int, error: HistoryError)?
    for (index, text) in texts.enumerated() {
      do throws(HistoryError) {
        let line = try HistoryLine(text)
        if let torn {
          // Only a process that was killed leaves half a line, and the next begins with a header.
          guard case .started = line.event else {
            throw HistoryError("\(path), line \(torn.number): \(torn.error)")
          }
        }
        torn = nil
        lines.append(line)
      } catch {
        if torn != nil { throw HistoryError("\(path), line \(index): \(error)") }
        torn = (index + 1, error)
      }
    }
    do throws(HistoryError) {
      return try ClientHistory(lines)
    } catch {
      throw HistoryError("\(path): \(error)")
    }
  }

  /// Reads the histories of all clients of a run.
  ///
  /// - Parameter directory: Where the files are, each named `CLIENT.jsonl`.
  /// - Returns: All that they have noted.
  /// - Throws: ``HistoryError`` when one of them cannot be read.
  package static func all(in directory: String) throws(HistoryError) -> History {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
      throw HistoryError("\(directory) cannot be read")
    }
    var clients: [ClientHistory] = []
    for name in names.sorted() where name.hasSuffix(".jsonl") {
      clients.append(try client(at: "\(directory)/\(name)"))
    }
    return History(clients)
  }
}
