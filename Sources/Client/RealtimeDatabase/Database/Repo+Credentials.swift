import Logging
import RealtimeCore

/// Passing tokens from a provider to the engine.
extension Repo {
  /// The token provider and the state of its tokens.
  struct Credentials {
    var provider: (any DatabaseTokenProvider)?
    var observation: DatabaseTokenObservation?
    /// The last token given to the engine.
    var token: DatabaseToken?
    /// Whether the server rejected the last token, so that a different one is needed.
    var wasRefused = false
  }

  /// Authenticates with a provider's tokens from now on.
  nonisolated func useTokens(of provider: any DatabaseTokenProvider) {
    submit(isUse: false) { $0.adopt(provider) }
  }

  /// Acts as the user of a private socket, if there is one: its server requires no proof of identity.
  func actAsLocalUser() {
    guard let uid = options.localUser else { return }
    handle(.authenticate(ClientRequest.Authentication(localUser: uid)))
  }

  private func adopt(_ provider: any DatabaseTokenProvider) {
    guard !isClosed else { return }
    credentials = Credentials(provider: provider)
    credentials.observation = provider.observeTokens { [weak self] token in
      self?.submit(isUse: false) { $0.tokenChanged(token) }
    }
    handle(.actAs(user: provider.userID))
    // An attempt that is already under way started without a token.
    guard core.phase != .interrupted else { return }
    Task {
      let token = try? await provider.token(forcingRefresh: false)
      self.submit(isUse: false) { repo in
        if let token, repo.credentials.token == nil { repo.tokenChanged(token) }
      }
    }
  }

  private func tokenChanged(_ token: DatabaseToken?) {
    guard !isClosed else { return }
    handle(.actAs(user: token?.userID))
    guard token != credentials.token else { return }
    credentials.token = token
    if let token {
      handle(.authenticate(ClientRequest.Authentication(credential: token.text)))
    } else {
      credentials.wasRefused = false
      handle(.unauthenticate)
    }
  }

  /// Gets a token for a connection attempt, and then continues with the attempt.
  func authenticate(_ id: ConnectionID, then connect: @escaping @Sendable (isolated Repo) -> Void) {
    guard let provider = credentials.provider else { return connect(self) }
    let isForced = credentials.wasRefused
    Task {
      let result: Result<DatabaseToken?, any Error>
      do {
        result = .success(try await provider.token(forcingRefresh: isForced))
      } catch {
        result = .failure(error)
      }
      self.submit(isUse: false) { repo in
        guard repo.core.connection.isTrying(id) else { return }
        switch result {
        case .success(let token) where token?.userID == provider.userID:
          repo.tokenChanged(token)
          connect(repo)
        case .success:
          repo.gaveUp(id, cause: .network, reason: "the user changed while connecting")
        case .failure(let error as any DatabaseTokenFailure) where !error.isTemporary:
          repo.gaveUp(id, cause: .signInRefused, reason: "signing in was refused: \(error)")
        case .failure(let error):
          repo.gaveUp(id, cause: .network, reason: "signing in failed: \(error)")
        }
      }
    }
  }

  private func gaveUp(
    _ id: ConnectionID,
    cause: ConnectionStatus.Problem.Cause,
    reason: String
  ) {
    let isPermanent = cause == .signInRefused
    ended(id, because: .init(cause: cause, reason: reason, isPermanent: isPermanent))
  }

  /// Reconnects with another token if there is a provider to get it from.
  func credentialRejected(with outcome: Outcome) {
    logger.warning("the credential was refused: \(outcome)")
    guard credentials.provider != nil else { return }
    credentials.wasRefused = true
    credentials.token = nil
    handle(.goOnline(.tokenRefresh))
  }

  func credentialAccepted() {
    credentials.wasRefused = false
    logger.debug("the credential was accepted")
  }
}
