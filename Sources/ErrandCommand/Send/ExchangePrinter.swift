import Errand
import Foundation

/// Prints each request when it is sent and each response when it is received, if the option `-v` is given. Secrets are
/// masked.
struct ExchangePrinter: Interceptor {
  let paint: Paint
  let write: @Sendable (String) -> Void

  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    write(sent(request))
    let response = try await next(request)
    write(received(response))
    return response
  }

  /// The lines to print for a request: method and URL, the fields, and the length of the body.
  func sent(_ request: HTTPRequest) -> String {
    let line = "> \(request.method) \(Secrets.maskedTarget(request.url.string))"
    var lines = [paint(.bold, line)] + request.fields.all.map { "> " + shown($0) }
    if let body = request.body { lines.append(paint(.dim, "> (\(Self.measure(of: body)) of body)")) }
    return lines.map { $0 + "\n" }.joined()
  }

  private static func measure(of body: HTTPBody) -> String { body.length.map(Wording.bytes) ?? "an unknown length" }

  /// The status line and the fields of a received response. Each line begins with `< `.
  func received(_ response: HTTPResponse) -> String { head(response, mark: "< ") }

  /// The status line and the fields of a response. Each line begins with `mark`.
  func head(_ response: HTTPResponse, mark: String = "") -> String {
    let head = response.head
    let line = "\(mark)\(head.version.rawValue) \(head.status)\(head.reason.isEmpty ? "" : " \(head.reason)")"
    let status = paint(head.isSuccess ? .green : .yellow, PlainText.visible(line))
    return ([status] + head.fields.all.map { mark + shown($0) }).map { $0 + "\n" }.joined()
  }

  private func shown(_ field: HTTPField) -> String {
    let value =
      field.isSecret ? Secrets.mask : Secrets.maskedTarget(Secrets.shown(field.value, of: field.name.rawValue))
    return paint(.dim, "\(field.name):") + " " + PlainText.visible(value)
  }
}
