import Foundation
import RealtimeDatabase

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 2 else {
  print("usage: Errands http://HOST:PORT?ns=NAME DIRECTORY [ERRAND …]")
  exit(2)
}
let errands = try Errands(url: arguments[1], directory: arguments[2])
for text in arguments.dropFirst(2) { try await errands.add(text) }
do {
  for text in try await errands.sent() { print("- \(text)") }
} catch {
  print("There is no connection (\(error)). What you wrote is kept, and sent next time.")
}
await errands.database.close()
