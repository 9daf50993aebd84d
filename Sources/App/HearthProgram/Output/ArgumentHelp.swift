import ArgumentParser

extension String {
  /// The help of an option whose value is called that.
  func taking(_ valueName: String) -> ArgumentHelp { ArgumentHelp(self, valueName: valueName) }
}
