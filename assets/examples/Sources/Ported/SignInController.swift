import FirebaseAuth
import FirebaseCore

/// Signs people in, and tells them in words of its own what went wrong.
final class SignInController: Controller {
  private(set) var name: String?
  private(set) var message: String?
  private(set) var seen: [String] = []

  private var handle: AuthStateDidChangeListenerHandle?
  private var task: Task<Void, Never>?

  override func viewWillAppear() {
    handle = Auth.auth().addStateDidChangeListener { auth, user in
      self.name = user?.email
      self.reloadData()
    }
    task = Task {
      for await user in Auth.auth().authStateChanges {
        seen.append(user?.email ?? "nobody")
        reloadData()
      }
    }
  }

  override func viewWillDisappear() {
    Auth.auth().removeStateDidChangeListener(handle!)
    task?.cancel()
  }

  func createUser(_ email: String, _ password: String) {
    Auth.auth().createUser(withEmail: email, password: password) { authResult, error in
      self.show(error, authResult?.user)
    }
  }

  func signIn(_ email: String, _ password: String) {
    Auth.auth().signIn(withEmail: email, password: password) { [weak self] authResult, error in
      guard let strongSelf = self else { return }
      strongSelf.show(error, authResult?.user)
    }
  }

  func signOut() {
    let firebaseAuth = Auth.auth()
    do {
      try firebaseAuth.signOut()
    } catch {
      print("Error signing out: \(error.localizedDescription)")
    }
  }

  private func show(_ error: Error?, _ user: User?) {
    if let error = error {
      switch AuthErrorCode(rawValue: (error as NSError).code) {
      case .emailAlreadyInUse: message = "taken"
      case .invalidCredential, .wrongPassword, .userNotFound: message = "wrong"
      case .weakPassword: message = "weak"
      case .networkError: message = "offline"
      default: message = error.localizedDescription
      }
    } else {
      message = "hello \(user?.email ?? "")"
    }
    reloadData()
  }
}
