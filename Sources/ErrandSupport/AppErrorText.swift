import Foundation

/// The text of an error that code of the app threw, for a message of the library.
///
/// Most messages that quote such an error are shown to people. Interpolation alone is not enough for them: of a type
/// that conforms to `LocalizedError` and not to `CustomStringConvertible`, it gives the Swift name and the properties.
///
/// ```swift
/// struct TooYoung: LocalizedError {
///   var errorDescription: String? { "the age is below 18" }
/// }
/// "\(TooYoung())"  // TooYoung()
/// AppErrorText.of(TooYoung())  // the age is below 18
/// ```
///
/// An error of the library that conforms to `LocalizedError`, such as `APIError`, gives its sentence for people, and
/// not its line for logs.
package enum AppErrorText {
  /// The `errorDescription` of an error that conforms to `LocalizedError`, if there is one and it is not empty.
  /// Otherwise the description of the error.
  ///
  /// `localizedDescription` is not used: without an `errorDescription` it is a general sentence such as "The operation
  /// could not be completed", which says less than the description.
  package static func of(_ error: any Error) -> String {
    guard let localized = error as? any LocalizedError, let text = localized.errorDescription, !text.isEmpty else {
      return "\(error)"
    }
    return text
  }
}
