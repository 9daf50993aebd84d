/// Draws the model; the same model is always the same screen, of exactly the model's size.
package func view(_ model: Model) -> Screen {
  var painter = Painter(model)
  painter.paint()
  return painter.screen
}

/// Draws the model as ``view(_:)`` does, but of the list only what looks different from before.
///
/// - Parameters:
///   - model: What is drawn.
///   - rows: The rows as they were drawn last; they are replaced by those that are drawn now.
/// - Returns: The screen.
package func view(_ model: Model, reusing rows: inout DrawnRows) -> Screen {
  var painter = Painter(model, drawnRows: rows)
  // Held once only, so that nothing of it is copied.
  rows = DrawnRows()
  painter.paint()
  rows = painter.drawnRows
  return painter.screen
}
