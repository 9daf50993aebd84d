import Foundation

/// What `UIViewController` is to code for phones: a class of the main actor with a life of its own.
@MainActor
class Controller {
  func viewDidLoad() {}
  func viewWillAppear() {}
  func viewWillDisappear() {}

  /// Called after something was shown anew.
  var didReload: (() -> Void)?

  func reloadData() { didReload?() }
}
