/// How a star comes into the database.
package enum StarMethod: String, Sendable, CaseIterable {
  /// A transaction on the post, and another one on its copy.
  ///
  /// This counts right where no rules are asked, whatever other terminals of mine do, but puts whole
  /// posts: rules that let others do that cannot keep them from dropping a star.
  case transaction
  /// One update of both copies, in which the server adds to the counts.
  ///
  /// It takes rules that let star and count change only together; they make a star that is sent twice
  /// count once. Nobody needs permission to write a whole post of another.
  case increment
  /// The same at a private socket, where rules are about nothing but stars: who is refused has been
  /// overtaken by another terminal of theirs, and tries again for longer.
  case localIncrement
}
