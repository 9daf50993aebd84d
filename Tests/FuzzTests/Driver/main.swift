import Foundation

// The first argument names the target; the rest are libFuzzer's.
let name = CommandLine.arguments.dropFirst().first ?? ""
guard let target = FuzzTarget(rawValue: name) else {
  let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
  FileHandle.standardError.write(Data("name one of \(names)\n".utf8))
  exit(2)
}
exit(FuzzRun.run(target, count: CommandLine.argc - 1, arguments: CommandLine.unsafeArgv + 1))
