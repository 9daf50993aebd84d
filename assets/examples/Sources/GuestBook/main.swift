import Foundation
import RealtimeDatabase

guard CommandLine.arguments.count == 4 else {
  print("usage: GuestBook http://HOST:PORT?ns=NAME NAME TEXT")
  exit(2)
}
do {
  let book = GuestBook(try Database(url: CommandLine.arguments[1]))
  try await book.sign(name: CommandLine.arguments[2], text: CommandLine.arguments[3])
  for entry in try await book.last(10) { print("\(entry.name): \(entry.text)") }
  print("signed \(try await book.visits()) times; waiting for others, until interrupted")
  try await book.follow { print("\($0.name): \($0.text)") }
} catch {
  // An error that leaves the program at its top level would end it with a trace of the stack.
  print(error)
  exit(1)
}
