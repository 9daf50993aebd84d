public import Foundation
internal import NIOConcurrencyHelpers
internal import RealtimeCore

/// A change of the name or the picture of a user, made by ``commitChanges()``.
///
/// What is not set stays as it is; what is set to nil is removed.
public final class UserProfileChangeRequest: Sendable {
  private let user: User
  private let changes = NIOLockedValueBox(Changes())

  private struct Changes {
    var displayName: String??
    var photoURL: URL??
  }

  init(_ user: User) {
    self.user = user
  }

  /// The name that the user chooses.
  public var displayName: String? {
    get { changes.withLockedValue(\.displayName) ?? user.displayName }
    set { changes.withLockedValue { $0.displayName = .some(newValue) } }
  }

  /// The address of the picture that the user chooses.
  public var photoURL: URL? {
    get { changes.withLockedValue(\.photoURL) ?? user.photoURL }
    set { changes.withLockedValue { $0.photoURL = .some(newValue) } }
  }

  /// Makes the change.
  ///
  /// - Throws: ``AuthError``.
  public func commitChanges() async throws {
    let changes = changes.withLockedValue(\.self)
    var members: [JSONMember] = []
    var removed: [JSONValue] = []
    switch changes.displayName {
    case .some(.some(let name)): members.append(JSONMember("displayName", .string(name)))
    case .some(.none): removed.append(.string("DISPLAY_NAME"))
    case .none: break
    }
    switch changes.photoURL {
    case .some(.some(let url)): members.append(JSONMember("photoUrl", .string(url.absoluteString)))
    case .some(.none): removed.append(.string("PHOTO_URL"))
    case .none: break
    }
    if !removed.isEmpty { members.append(JSONMember("deleteAttribute", .array(removed))) }
    try await user.update(members)
  }

  /// Makes the change and tells the outcome on ``Auth/callbackQueue``.
  public func commitChanges(completion: User.UserProfileChangeCallback?) {
    user.change(completion) { _ in try await self.commitChanges() }
  }
}
