import ErrandCore
import ErrandSupport
import Foundation

/// The text of an error of a call, a decoder or the app, for the reason of an entry, which is stored and logged.
enum ErrorText {
  /// The text of an error. If the entry is sealed, the text contains nothing of its request: only the kind of the error
  /// and, for a decoding error, the place.
  static func of(_ error: any Error, isSealed: Bool) -> String {
    guard isSealed else { return error is APIError ? "\(error)" : AppErrorText.of(error) }
    switch error {
    // The app has written the text for the reason: see ``OutboxError/unreadable(_:)``.
    case let error as OutboxError where error.code == .unreadable: return error.description
    case let error as OutboxError: return "OutboxError.\(error.code)"
    case let error as APIError: return text(of: error)
    case let error as DecodingError: return text(of: error)
    default: return "\(type(of: error))"
    }
  }

  /// The message of a call that failed, if its stage knows only the server and the account. The messages of other
  /// stages may quote arguments, the URL, the response or an error of the app.
  private static func text(of error: APIError) -> String {
    switch error.stage {
    case .authorize, .admission, .transport, .cancelled, .deadline: return error.message
    case .build, .interceptor, .redirect, .validate, .decode, .cache, .transfer, .group:
      let status = error.status.map { ", status \($0)" } ?? ""
      return "The call failed: stage \(error.stage.rawValue), code \(error.code)\(status)."
    }
  }

  private static func text(of error: DecodingError) -> String {
    switch error {
    case .typeMismatch(_, let context): text("typeMismatch", context.codingPath)
    case .valueNotFound(_, let context): text("valueNotFound", context.codingPath)
    case .keyNotFound(let key, let context): text("keyNotFound", context.codingPath + [key])
    case .dataCorrupted(let context): text("dataCorrupted", context.codingPath)
    @unknown default: "DecodingError"
    }
  }

  private static func text(_ kind: String, _ path: [any CodingKey]) -> String {
    path.isEmpty ? kind : "\(kind) at `\(path.map(name).joined(separator: "."))`"
  }

  /// The name of a property. A key of a dictionary is data, as is the number of an element: its type accepts any text.
  private static func name(_ key: any CodingKey) -> String {
    type(of: key).init(stringValue: UUID().uuidString) == nil ? key.stringValue : "*"
  }
}
