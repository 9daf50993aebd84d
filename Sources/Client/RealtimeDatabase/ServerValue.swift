public import Foundation

/// Values that the server fills in when it applies a write.
public enum ServerValue {
  /// The server's time, in milliseconds since 1970.
  public static func timestamp() -> [String: any Sendable] {
    [".sv": "timestamp"]
  }

  /// The number stored there plus this one; this one when no number is stored.
  public static func increment(_ delta: Int) -> [String: any Sendable] {
    [".sv": ["increment": delta]]
  }

  /// The number stored there plus this one; this one when no number is stored.
  public static func increment(_ delta: Double) -> [String: any Sendable] {
    [".sv": ["increment": delta]]
  }

  /// The number stored there plus this one; this one when no number is stored.
  public static func increment(_ delta: NSNumber) -> [String: any Sendable] {
    let type = String(cString: delta.objCType)
    return type == "d" || type == "f"
      ? increment(delta.doubleValue) : increment(delta.intValue)
  }
}
