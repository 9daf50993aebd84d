// Safety: the block is called only on the callback queue, which is serial, so never twice at a time; on
// the way it is handed on without being looked at. It may be released on any thread, as in the original.
/// A block of the program on its way to the callback queue.
///
/// Blocks need not be `Sendable`, as they need not be in the original: what a class of the main actor
/// hands over may use that class, since the callback queue is the main queue unless it was set.
package struct Callback<Block>: @unchecked Sendable {
  /// The block, to be called on the callback queue only.
  package let call: Block

  /// Takes a block.
  package init(_ block: Block) {
    call = block
  }
}
