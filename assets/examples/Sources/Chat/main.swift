import Foundation
import RealtimeDatabase

guard CommandLine.arguments.count == 3 else {
  print("usage: Chat http://HOST:PORT?ns=NAME YOUR-NAME")
  exit(2)
}
do {
  let name = CommandLine.arguments[2]
  let database = try Database(url: CommandLine.arguments[1])
  // The main queue, which is used otherwise, is busy: its thread waits for what is typed.
  database.callbackQueue = DispatchQueue(label: "chat")
  let chat = Chat(database)
  try await chat.enter(as: name)
  print("Here are \(try await chat.present().joined(separator: ", ")).")
  let listening = Task.detached { try await chat.listen { print("\($0.name): \($0.text)") } }
  while let text = readLine() { try await chat.say(text, as: name) }
  listening.cancel()
} catch {
  print(error)
  exit(1)
}
