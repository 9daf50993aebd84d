import Dispatch

extension DispatchQueue {
  /// The queue for short work that nobody waits for.
  ///
  /// It is a serial queue rather than a global one because libdispatch counts the threads of its
  /// global queues every second, from their first use until the program ends; a terminal at rest
  /// would never sleep for longer.
  static let hearthBackground = DispatchQueue(label: "hearth.background", qos: .utility)
}
