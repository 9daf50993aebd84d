public import Foundation
internal import NIOConcurrencyHelpers

/// Someone who is signed in.
///
/// What it says of the profile is what is known now, for as long as this user is signed in.
public final class User: Sendable {
  /// The identifier, which rules of the database see as `auth.uid`.
  public let uid: String
  let auth: Auth
  private let known: Account.Profile

  init(_ account: Account, of auth: Auth) {
    uid = account.uid
    known = account.profile
    self.auth = auth
  }

  var profile: Account.Profile {
    let account = auth.state.withLockedValue(\.core.account)
    return account?.uid == uid ? account?.profile ?? known : known
  }

  /// The email address, or nil for guests.
  public var email: String? { profile.email }

  /// The name that the user has chosen, or nil.
  public var displayName: String? { profile.displayName }

  /// The address of a picture that the user has chosen, or nil.
  public var photoURL: URL? { profile.photoURL.flatMap { URL(string: $0) } }

  /// Whether the user has proved that the email address is theirs.
  public var isEmailVerified: Bool { profile.isEmailVerified }

  /// Whether the user is a guest.
  public var isAnonymous: Bool { profile.isAnonymous }

  /// Begins a change of the name or the picture.
  public func createProfileChangeRequest() -> UserProfileChangeRequest {
    UserProfileChangeRequest(self)
  }
}

extension User: Hashable {
  /// Whether two objects stand for one user of one server.
  public static func == (left: User, right: User) -> Bool {
    left.uid == right.uid && left.auth.server == right.auth.server
  }

  /// Feeds the identifier to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(uid)
  }
}
