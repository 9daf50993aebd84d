import RealtimeCore

@testable import RealtimeServer

/// A credential identifies a user with a name, an administrator, or nobody.
enum TokenCheck {
  static func check(_ input: [UInt8]) throws(BrokenProperty) {
    let text = String(decoding: input, as: UTF8.self)
    let credential = ClientRequest.Authentication(credential: text, isAdministrative: false)
    for verifier in [EmulatorVerifier(), NoSignIn()] as [any CredentialVerifier] {
      guard let verified = try? verifier.verify(credential, at: 0) else { continue }
      try demand(verifier is EmulatorVerifier, "somebody signs in where nobody can")
      switch verified.identity {
      case .administrator: try demand(text == "owner", "\(text) makes an administrator")
      case .user:
        try demand(verified.identity.uid?.isEmpty == false, "\(text) makes a user without a name")
      }
    }
  }
}
