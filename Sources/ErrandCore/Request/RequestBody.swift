import ErrandJSON
public import Foundation

/// A body that a request gives in place of its arguments.
public struct RequestBody: Sendable {
  enum Content: Sendable {
    case bytes(Data)
    case form(Arguments)
    case json(@Sendable (JSONEncoding) throws -> Data)
  }

  let content: Content
  let contentType: String

  /// Any `Encodable` value as JSON, written by the request's ``APIRequest/jsonEncoding``.
  public static func json(_ value: some Encodable & Sendable) -> RequestBody {
    RequestBody(content: .json { try $0.encode(value) }, contentType: "application/json")
  }

  /// Arguments as a form, in UTF-8.
  public static func form(_ arguments: Arguments) -> RequestBody {
    RequestBody(content: .form(arguments), contentType: "application/x-www-form-urlencoded")
  }

  /// Bytes as they are.
  public static func bytes(_ data: Data, type contentType: String = "application/octet-stream") -> RequestBody {
    RequestBody(content: .bytes(data), contentType: contentType)
  }

  /// A text in UTF-8.
  public static func text(_ text: String, type contentType: String = "text/plain; charset=utf-8") -> RequestBody {
    RequestBody(content: .bytes(Data(text.utf8)), contentType: contentType)
  }
}
