internal import BlogChecker
internal import BlogModel
internal import RealtimeCore
internal import RealtimeDatabase

/// One list that a user looks at, with what it shows.
struct SwarmView {
  /// What the view is called in a history.
  let name: String
  /// The location.
  let path: String
  /// What is looked at.
  let query: DatabaseQuery
  /// The child that decides the order, if not the key.
  var orderedBy: String?
  /// How many there are at most.
  var limit: Int?
  /// The post whose comments these are, if they are.
  var commentedPost: String?
  /// Everything that is shown, once it is known.
  var shown: DataSnapshot?
  /// Whether all comments are to be noted as soon as they are those of the server.
  var isListDue = true
  /// How often something was shown.
  var order = 0

  /// What the view has, for the end of a history.
  var finalView: FinalView? {
    shown.map {
      FinalView(
        view: name,
        path: path,
        orderedBy: orderedBy,
        limit: limit,
        digest: $0.node.hash
      )
    }
  }
}
