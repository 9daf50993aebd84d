import Foundation
import RealtimeCore

@testable import RealtimeServer

extension SceneRun {
  /// What a scene may set up about accounts, by name.
  private static let settings: [String: @Sendable (inout IdentitySettings, String) -> Void] = [
    "accountDelay": { $0.accountDelay = Int64($1) ?? 0 },
    "administratorKey": { $0.administratorKey = AdministratorKey($1) },
    "allowsSignUp": { $0.allowsSignUp = $1 == "true" },
    "attemptsPerClient": { $0.attemptsPerClient = Int($1) ?? 0 },
    "clientPause": { $0.clientPause = Int64($1) ?? 0 },
    "tokenLifetime": { $0.tokenLifetime = Int64($1) ?? 0 },
  ]

  func setUpAccounts(_ text: String) throws {
    let parts = text.components(separatedBy: " ")
    guard let setting = Self.settings[parts[0]] else { throw SceneFailure("accounts have no such") }
    let (value, before) = (pattern.filled(parts[1]), adjustAccounts)
    adjustAccounts = {
      before(&$0)
      setting(&$0, value)
    }
  }

  /// Expects claims of a token, and also `alg`, `kid` and whether it `isSigned`.
  func expectToken(_ text: String) throws {
    let parts = text.split(separator: " ", maxSplits: 1).map { String($0) }
    guard let token = pattern.names[parts[0]]?.string.flatMap({ WebToken($0) }) else {
      throw SceneFailure("there is no such token")
    }
    let head = JSONValue.object(
      ("alg", .string(token.algorithm)),
      ("kid", token.keyID.map { .string($0) } ?? .null),
      ("isSigned", .bool(!token.signature.isEmpty))
    )
    let members = (head.members ?? []) + (token.claims.members ?? [])
    guard pattern.matches(parts[1], JSONValue.object(members).text, isPartial: true) else {
      throw SceneFailure("the token has \(members)")
    }
  }

  /// Expects names to stand for different values.
  func expectDifference(_ text: String) throws {
    let values = text.components(separatedBy: " ").map { pattern.names[$0]?.text }
    guard Set(values).count == values.count else { throw SceneFailure("they are \(values)") }
  }
}
