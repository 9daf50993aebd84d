import Foundation

/// The system's words for what went wrong.
enum SystemReason {
  /// The words for a failure of Foundation.
  static func of(_ error: any Error) -> String {
    let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
    let code = (underlying ?? error as NSError)
    return code.domain == NSPOSIXErrorDomain
      ? String(cString: strerror(Int32(code.code))) : error.localizedDescription
  }
}
