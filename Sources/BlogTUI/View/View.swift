package import TerminalUI

/// Draws the model; the same model is always the same screen, of exactly the model's size.
package func view(_ model: Model) -> Screen {
  var painter = Painter(model)
  painter.paint()
  return painter.screen
}
