import BlogModel
import Dispatch
import Foundation
import RealtimeCore
import RealtimeDatabase

extension SwarmUser {
  /// Waits until the next planned operation is due, however long the last one takes.
  func scheduleNext() {
    guard let next = plan.first, let start else { return }
    let pause = start.advanced(by: .microseconds(next.at)).since(.now)
    queue.asyncAfter(deadline: .now() + max(0, pause / .seconds(1))) { [weak self] in
      guard let self, self.plan.first == next else { return }
      self.plan.removeFirst()
      self.perform(next)
      self.scheduleNext()
    }
  }

  private func perform(_ operation: PlannedOperation) {
    guard let start else { return }
    let due = start.advanced(by: .microseconds(operation.at))
    let isDone =
      switch operation.action {
      case .post: writePost(operation, due: due)
      case .comment: writeComment(operation, due: due)
      case .star: changeStar(to: true, by: operation, due: due)
      case .unstar: changeStar(to: false, by: operation, due: due)
      case .edit: editPost(operation, due: due)
      case .delete: deletePost(operation, due: due)
      case .retract: deleteComment(operation, due: due)
      case .count: addToNumber(operation, due: due)
      case .trespass: trespass(operation, due: due)
      }
    if !isDone { tally.skipped += 1 }
  }

  // MARK: Choosing

  /// The posts an operation may target, starting with the one that the plan names.
  private func candidates(_ operation: PlannedOperation) -> [Post] {
    switch operation.target {
    case .hot(let number):
      return (0..<settings.hotPosts).compactMap { offset in
        let title = SwarmSettings.hotTitle((number + offset) % settings.hotPosts)
        return hotPosts[title].flatMap { posts[$0] }
      }
    case .any(let choice):
      let keys = posts.values.filter(concerns).map(\.id).sorted()
      return keys.indices.compactMap { posts[keys[($0 + choice) % keys.count]] }
    }
  }

  /// Whether a post may be changed: where there are members, only their posts are.
  func concerns(_ post: Post) -> Bool { members.isEmpty || members.contains(post.uid) }

  private func ownPosts(_ operation: PlannedOperation) -> [Post] {
    let own = posts.values.filter { $0.uid == me.uid && !isHot($0) }.sorted { $0.id < $1.id }
    guard case .any(let choice) = operation.target, !own.isEmpty else { return own }
    return own.indices.map { own[($0 + choice) % own.count] }
  }

  private func isHot(_ post: Post) -> Bool { hotPosts.values.contains(post.id) }

  // MARK: Doing

  private func writePost(_ operation: PlannedOperation, due: Moment) -> Bool {
    let id = blog.paths.posts.childByAutoId().key ?? ""
    let body = "from \(me.name) +\(due.microseconds)"
    let title =
      if case .hot(let number) = operation.target {
        SwarmSettings.hotTitle(number)
      } else {
        "post \(number).\(operation.number)"
      }
    let done = begin(operation, due: due, intent: .post(post: id, title: title, body: body))
    blog.perform(.post(id, title: title, body: body), completion: done)
    return true
  }

  private func writeComment(_ operation: PlannedOperation, due: Moment) -> Bool {
    guard let post = candidates(operation).first else { return false }
    let id = blog.paths.comments(on: post.id).childByAutoId().key ?? ""
    let text = "comment \(number).\(operation.number) +\(due.microseconds)"
    let done = begin(operation, due: due, intent: .comment(post: post.id, comment: id, text: text))
    blog.perform(.comment(post.id, commentID: id, text: text)) { [weak self] error in
      done(error)
      guard error == nil, let self else { return }
      self.acknowledgedComments.append(OwnComment(post: post.id, key: id))
      self.noteComments(in: Self.commentsName(post.id))
    }
    return true
  }

  private func deleteComment(_ operation: PlannedOperation, due: Moment) -> Bool {
    guard !acknowledgedComments.isEmpty else { return false }
    let comment = acknowledgedComments.removeFirst()
    let done = begin(
      operation,
      due: due,
      intent: .deleteComment(post: comment.post, comment: comment.key)
    )
    blog.perform(.deleteComment(comment.post, commentID: comment.key), completion: done)
    return true
  }

  /// Adds to a number, mostly with a server-side increment, sometimes with a transaction.
  private func addToNumber(_ operation: PlannedOperation, due: Moment) -> Bool {
    let path =
      switch operation.target {
      case .hot(let number): SwarmCounters.shared(number)
      case .any: SwarmCounters.own(me.uid)
      }
    let amount = 1 + operation.number % 5
    let done = begin(operation, due: due, intent: .increment(path: path, amount: Int64(amount)))
    let reference = database.reference(withPath: path)
    guard operation.number.isMultiple(of: 4) else {
      reference.setValue(ServerValue.increment(amount)) { error, _ in done(error) }
      return true
    }
    reference.runTransactionBlock { data in
      data.value = (data.value as? Int ?? 0) + amount
      return .success(withValue: data)
    } andCompletionBlock: { error, _, _ in
      done(error)
    }
    return true
  }

  private func changeStar(
    to isStarred: Bool,
    by operation: PlannedOperation,
    due: Moment
  ) -> Bool {
    let post = candidates(operation).first {
      $0.stars.contains(me.uid) != isStarred && !starring.contains($0.id)
    }
    guard let post else { return false }
    starring.insert(post.id)
    let intent = isStarred ? Intent.star(post: post.id) : .unstar(post: post.id)
    let done = begin(operation, due: due, intent: intent)
    unanswered += 1
    touch(intent)
    stars.set(
      isStarred,
      on: post,
      settled: { [weak self] _ in
        self?.release(intent)
        self?.starring.remove(post.id)
        self?.unanswered -= 1
      },
      completion: done
    )
    return true
  }

  private func editPost(_ operation: PlannedOperation, due: Moment) -> Bool {
    let own = candidates(operation).filter { $0.uid == me.uid } + ownPosts(operation)
    // Writing over a running transaction would cancel it, and its star would flicker.
    guard let post = own.first(where: { !starring.contains($0.id) }) else { return false }
    let body = "edited \(number).\(operation.number)"
    let done = begin(
      operation,
      due: due,
      intent: .editPost(post: post.id, title: post.title, body: body)
    )
    blog.perform(.edit(post.id, title: post.title, body: body), completion: done)
    return true
  }

  private func deletePost(_ operation: PlannedOperation, due: Moment) -> Bool {
    guard let post = ownPosts(operation).first else { return false }
    let done = begin(operation, due: due, intent: .deletePost(post: post.id))
    blog.perform(.deletePost(post.id), completion: done)
    return true
  }

  /// Tries in turn to star a post as another user and to edit another user's post.
  ///
  /// Nothing is shown locally before the server has answered, and it must refuse.
  private func trespass(_ operation: PlannedOperation, due: Moment) -> Bool {
    let post = candidates(operation).first { $0.uid != me.uid && !starring.contains($0.id) }
    guard let post else { return false }
    let other = settings.uid(settings.users + number)
    let title = "taken over \(number).\(operation.number)"
    let isStar = operation.number.isMultiple(of: 2)
    let intent: Intent =
      isStar ? .starAs(post: post.id, uid: other) : .editOther(post: post.id, title: title)
    let done = begin(operation, due: due, intent: intent)
    blog.paths.post(post.id).runTransactionBlock(
      { data in
        guard data.hasChildren() else { return .success(withValue: data) }
        if isStar {
          let stars = data.childData(byAppendingPath: "stars")
          stars.childData(byAppendingPath: other).value = true
          data.childData(byAppendingPath: "starCount").value = Int(stars.childrenCount)
        } else {
          data.childData(byAppendingPath: "title").value = title
        }
        return .success(withValue: data)
      },
      andCompletionBlock: { error, _, snapshot in
        // If the post is gone by now, nothing was tried.
        done(error ?? (snapshot?.exists() == true ? nil : BlogError.notFound(post.id)))
      },
      withLocalEvents: false
    )
    return true
  }

  // MARK: Noting

  /// Records the start of an operation before any of it can be seen; returns what records its end.
  private func begin(
    _ operation: PlannedOperation,
    due: Moment,
    intent: Intent
  ) -> SwarmStars.Completion {
    let number = Int64(operation.number)
    history.append(.invoked(number, intent))
    unanswered += 1
    touch(intent)
    tally.begun += 1
    tally.lateness.record(microseconds: Moment.now.microseconds - due.microseconds)
    return { [weak self, history] error in
      history.append(.answered(number, Self.outcome(error, of: intent)))
      guard let self else { return }
      self.unanswered -= 1
      self.release(intent)
      if error == nil {
        let latency = Moment.now.microseconds - due.microseconds
        self.tally.acknowledged.record(microseconds: latency)
        self.pulse?.record(microseconds: latency)
        self.readBack(intent, number: -1 - number)
      }
    }
  }

  /// Reads what the user has just written, at each server in turn and then over its own connection.
  ///
  /// The library answers for what it listens to, so there it is the copy of a post. Nothing waits
  /// for these reads.
  private func readBack(_ intent: Intent, number: Int64) {
    guard isWatcher, let reader else { return }
    let turn = readBacks % (reader.ways.count + 1)
    readBacks += 1
    if reader.ways.indices.contains(turn) {
      guard let path = intent.writtenPath else { return }
      let way = reader.ways[turn]
      history.append(.invoked(number, .read(path: "\(path)", server: way.name)))
      Task { [history, bug] in
        let outcome = await reader.read(path, by: way)
        history.append(.answered(number, bug == .oldRead ? .ok(nil) : outcome))
      }
    } else if settings.stars.isAtomic, let post = intent.post, let owner = posts[post]?.uid {
      let copy = Path([.userPosts, ChildKey(owner), ChildKey(post)])
      history.append(.invoked(number, .read(path: "\(copy)")))
      database.reference(withPath: "\(copy)").getData {
        [history] (error: (any Error)?, snapshot: DataSnapshot?) in
        let isFresh = snapshot.map { !$0.metadata.isFromCache && !$0.metadata.hasPendingWrites }
        let value = isFresh == true ? snapshot?.node.json(.value) : nil
        let reason = error.map { "\($0)" } ?? "from the cache"
        history.append(.answered(number, value.map { .ok($0) } ?? .unknown(reason)))
      }
    }
  }

  /// What a client knows about how an operation ended.
  static func outcome(_ error: (any Error)?, of intent: Intent) -> Outcome {
    guard let error else { return .ok(nil) }
    let reason = String(describing: error)
    if case BlogError.notFound = error { return .refused(reason) }
    guard let error = error as? DatabaseError, error.kind == .permissionDenied else {
      return .unknown(reason)
    }
    // A star is written to two paths; if the second write is refused, the first has taken effect.
    let isHalf = error.path?.hasPrefix("/user-posts") ?? false
    return isHalf ? .unknown(reason) : .refused(reason)
  }
}
