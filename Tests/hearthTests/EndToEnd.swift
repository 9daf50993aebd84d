import Testing

/// Runs the built program as a user would, one test at a time: each has the machine to itself.
@Suite("End to end", .tags(.endToEnd), .serialized)
enum EndToEnd {}

extension Tag {
  /// Runs the built program, as a user would.
  @Tag static var endToEnd: Self
}
