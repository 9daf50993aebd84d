import FirebaseAuth
import FirebaseAuthInternal
import FirebaseCore
import FirebaseDatabase
import FirebaseDatabaseInternal
import FirebaseDatabaseSwift
import FirebaseSharedSwift
import Testing

/// Names and forms that guides and published programs use; most of it only has to compile.
@Suite("Firebase names", .timeLimit(.minutes(1)))
struct SnippetTests {
  private func place() throws -> DatabaseReference {
    try Database(url: "http://127.0.0.1:1?ns=n").reference(withPath: "users")
  }

  // Never called: the reads of the guides, with a snapshot that is optional and one that is not.
  // swift-format-ignore: NeverForceUnwrap
  private func reads(_ ref: DatabaseReference) {
    ref.child("a/username").getData(completion: { error, snapshot in
      guard error == nil else {
        print(error!.localizedDescription)
        return
      }
      let userName = snapshot.value as? String ?? "Unknown"
      print(userName)
    })
    ref.child("a/username").getData(completion: { error, snapshot in
      guard error == nil else {
        print(error!.localizedDescription)
        return
      }
      let userName = snapshot?.value as? String ?? "Unknown"
      print(userName)
    })
    ref.getData { error, snapshot in
      if let error = error {
        print("Error getting data \(error)")
      } else if snapshot.exists() {
        print("Got data \(snapshot.value!)")
      } else {
        print("No data available")
      }
    }
    ref.getData { _, snapshot in
      guard let snapshot = snapshot else { return }
      print(snapshot.childrenCount)
    }
    ref.getData { error, snapshot in print(error as Any, snapshot as Any) }
    ref.getData { _, _ in }
    ref.getData { (error: Error?, snapshot: DataSnapshot) in print(snapshot.key) }
    ref.getData { (error: Error?, snapshot: DataSnapshot?) in print(snapshot?.key ?? "") }
    ref.getData { _, snapshot in
      for child in snapshot.children {
        guard let child = child as? DataSnapshot else { continue }
        print(child.key)
      }
    }
  }

  // Never called: writes without a block, in code that waits for nothing and in tasks.
  private func writes(_ ref: DatabaseReference, user: [String: Any]) throws {
    ref.setValue(user)
    ref.setValue(user, andPriority: 1)
    ref.setValue(nil)
    ref.child("a").setValue(["username": "Ann"])
    self.remove(ref)
    ref.setPriority("p")
    ref.updateChildValues(["/posts/1": user, "/user-posts/2": user])
    ref.child("stars").setValue(ServerValue.increment(1))
    ref.onDisconnectSetValue(ServerValue.timestamp())
    ref.onDisconnectSetValue(true, andPriority: nil)
    ref.onDisconnectRemoveValue()
    ref.onDisconnectUpdateChildValues(["online": false])
    ref.cancelDisconnectOperations()
    try ref.setValue(from: ["a": 1])
    ref.runTransactionBlock { data in
      data.value = 1
      return TransactionResult.success(withValue: data)
    }
    Task { ref.setValue(1) }
    Task { @MainActor in ref.removeValue() }
    DispatchQueue.main.async { ref.setValue(1) }
    [1, 2].forEach { (number: Int) in ref.child("\(number)").setValue(number) }
  }

  private func remove(_ ref: DatabaseReference) { ref.removeValue() }

  // Never called: the same, awaited.
  private func awaits(_ ref: DatabaseReference) async throws {
    try await ref.setValue(1)
    try await ref.removeValue()
    _ = try await ref.setValue(1, andPriority: 1)
    let written: DatabaseReference = try await ref.updateChildValues(["a": 1])
    let (committed, snapshot) = try await ref.runTransactionBlock { _ in .abort() }
    print(written, committed, snapshot)
  }

  // Never called: signing in and changing an account, in code that waits for nothing.
  private func signIns(_ auth: Auth, _ user: User, _ credential: AuthCredential) {
    if auth.currentUser == nil { auth.signInAnonymously() }
    auth.signInAnonymously() { (result, error) in print(result as Any, error as Any) }
    auth.createUser(withEmail: "ann@example.org", password: "correct horse")
    auth.signIn(withEmail: "ann@example.org", password: "correct horse")
    auth.signIn(with: credential)
    auth.signIn(withCustomToken: "token")
    auth.sendPasswordReset(withEmail: "ann@example.org")
    auth.verifyPasswordResetCode("code") { email, error in print(email ?? "", error as Any) }
    user.reload()
    user.updateEmail(to: "ann@example.org")
    user.updatePassword(to: "correct horse")
    user.link(with: credential)
    user.reauthenticate(with: credential)
    print([EmailAuthProviderID, EmailAuthProvider.id].contains(credential.provider))
    let request = user.createProfileChangeRequest()
    request.displayName = "Ann"
    request.commitChanges()
    user.delete()
    Task { try await auth.signIn(withEmail: "ann@example.org", password: "correct horse") }
  }

  // Never called: blocks by the names that the original has for them.
  private func callbacks(
    _ entered: AuthDataResultCallback?,
    _ changed: UserProfileChangeCallback?,
    _ sent: SendPasswordResetCallback?,
    _ verified: @escaping VerifyPasswordResetCodeCallback,
    _ confirmed: ConfirmPasswordResetCallback?,
    _ token: AuthTokenCallback?,
    _ result: AuthTokenResultCallback?,
    _ state: @escaping AuthStateDidChangeListenerBlock,
    _ tokenChange: @escaping IDTokenDidChangeListenerBlock
  ) {
    let auth = Auth.auth()
    auth.signIn(withEmail: "ann@example.org", password: "correct horse", completion: entered)
    auth.currentUser?.reload(completion: changed)
    auth.sendPasswordReset(withEmail: "ann@example.org", completion: sent)
    auth.verifyPasswordResetCode("code", completion: verified)
    auth.confirmPasswordReset(withCode: "code", newPassword: "horse", completion: confirmed)
    auth.currentUser?.getIDToken(completion: token)
    auth.currentUser?.getIDTokenResult(completion: result)
    let kept: NSObjectProtocol? = auth.addStateDidChangeListener(state)
    if let kept = kept { auth.removeStateDidChangeListener(kept) }
    let handle: AuthStateDidChangeListenerHandle = auth.addIDTokenDidChangeListener(tokenChange)
    auth.removeIDTokenDidChangeListener(handle)
  }

  // Differs: Two snapshots of one location
  @Test("Snapshots are equatable and hashable by location and data")
  func snapshots() throws {
    let data = ["a": ["b": 1], "c": ["b": 1]] as [String: Any]
    let database = try Database(url: "http://127.0.0.1:1?ns=n")
    database.callbackQueue = DispatchQueue(label: "test.snippets")
    database.goOffline()
    let one = try #require(snapshot(of: data, at: database.reference(withPath: "x")))
    let two = try #require(snapshot(of: data, at: database.reference(withPath: "x")))
    #expect(one == two)
    #expect(Set([one, two]).count == 1)
    #expect(one.childSnapshot(forPath: "a") != one.childSnapshot(forPath: "c"))
    #expect(one.childSnapshot(forPath: "a") == two.childSnapshot(forPath: "a"))
    let other = try #require(snapshot(of: ["a": 2], at: database.reference(withPath: "x")))
    #expect(other != one)
  }

  private func snapshot(of data: [String: Any], at ref: DatabaseReference) -> DataSnapshot? {
    ref.setValue(data)
    let box = Box()
    let semaphore = DispatchSemaphore(value: 0)
    ref.observeSingleEvent(of: .value) {
      box.snapshot = $0
      semaphore.signal()
    }
    return semaphore.wait(timeout: .now() + 30) == .success ? box.snapshot : nil
  }

  private final class Box: @unchecked Sendable { var snapshot: DataSnapshot? }

  @Test("A query's description contains its path and its parameters")
  func queries() throws {
    let query = try place().queryOrdered(byChild: "age").queryLimited(toLast: 2)
    #expect(query.description == "\(query)")
    #expect(query.description.hasPrefix("(/users {"))
    #expect(query.description.contains("age"))
    #expect(query.description != (try place().queryOrderedByKey().description))
    let ref: DatabaseQuery = try place()
    #expect(ref.description == "http://127.0.0.1:1/users")
  }

  // Differs: ``Database/Encoder`` refuses bytes
  @Test("Coding strategies have Firebase's nested names, and blobs are rejected")
  func strategies() throws {
    let encoder = Database.Encoder()
    let dates: Database.Encoder.DateEncodingStrategy = .millisecondsSince1970
    encoder.dateEncodingStrategy = dates
    let keys: FirebaseDataEncoder.KeyEncodingStrategy = .convertToSnakeCase
    encoder.keyEncodingStrategy = keys
    let floats: Database.Encoder.NonConformingFloatEncodingStrategy = .throw
    encoder.nonConformingFloatEncodingStrategy = floats
    #expect(try encoder.encode(Data([1, 2])) as? String == "AQI=")
    encoder.dataEncodingStrategy = .deferredToData
    #expect(try encoder.encode([Data([1, 2])]) as? [[Int]] == [[1, 2]])
    let blob: Database.Encoder.DataEncodingStrategy = .blob
    encoder.dataEncodingStrategy = blob
    #expect(throws: EncodingError.self) { try encoder.encode(["a": Data([1, 2])]) }
    let decoder = FirebaseDataDecoder()
    decoder.dateDecodingStrategy = Database.Decoder.DateDecodingStrategy.secondsSince1970
    decoder.keyDecodingStrategy = Database.Decoder.KeyDecodingStrategy.useDefaultKeys
    #expect(try decoder.decode(Data.self, from: "AQI=") == Data([1, 2]))
    decoder.dataDecodingStrategy = .blob
    #expect(throws: DecodingError.self) { try decoder.decode(Data.self, from: "AQI=") }
    decoder.dataDecodingStrategy = .custom { _ in Data([7]) }
    #expect(try decoder.decode(Data.self, from: "x") == Data([7]))
  }

  @Test("Sign-in error codes have Firebase's names and numbers")
  func codes() {
    let codes: [(AuthErrorCode, Int)] = [
      (.accountExistsWithDifferentCredential, 17_012), (.invalidRecipientEmail, 17_033),
      (.invalidPhoneNumber, 17_042), (.quotaExceeded, 17_052), (.webContextCancelled, 17_058),
      (.secondFactorRequired, 17_078), (.unverifiedEmail, 17_086),
      (.missingOrInvalidNonce, 17_094), (.blockingCloudFunctionError, 17_105),
      (.recaptchaNotEnabled, 17_200),
    ]
    for (code, number) in codes { #expect(code.rawValue == number) }
    #expect(AuthErrorCode.allCases.count == 91)
    #expect(AuthErrors.domain == AuthErrorDomain)
    #expect("\(DatabaseError.Kind.tooBig)" == "too_big")
  }

  @Test("The log level applies to all apps")
  func logger() async {
    await #expect(processExitsWith: .success) {
      #expect(FirebaseConfiguration.shared.loggerLevel() == .notice)
      FirebaseConfiguration.shared.setLoggerLevel(.min)
      #expect(FirebaseConfiguration.shared.loggerLevel() == .error)
      FirebaseConfiguration.shared.setLoggerLevel(FirebaseLoggerLevel.debug)
      #expect(FirebaseConfiguration.shared.loggerLevel() == .max)
    }
  }
}
