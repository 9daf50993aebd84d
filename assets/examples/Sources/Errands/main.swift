import Foundation
import RealtimeDatabase

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2 else {
  print("usage: Errands http://HOST:PORT?ns=NAME DIRECTORY [ERRAND …]")
  exit(2)
}
do {
  let errands = try Errands(url: arguments[1], directory: arguments[2])
  for text in arguments.dropFirst(2) {
    try await errands.add(text) { print("The server refused \"\(text)\": \($0)") }
  }
  do {
    for text in try await errands.sent() { print("- \(text)") }
  } catch let error as DatabaseError where [.unavailable, .timedOut].contains(error.kind) {
    print("There is no connection (\(error)). What you wrote is kept, and sent next time.")
  } catch {
    print("The list cannot be read: \(error)")
  }
  await errands.database.close()
} catch {
  print(error)
  exit(1)
}
