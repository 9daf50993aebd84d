/// The view of the current tree.
enum TreeView {
  static let statements = ""
}
