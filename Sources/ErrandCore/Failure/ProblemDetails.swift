public import ErrandJSON
import ErrandSupport

/// The reason why a server rejected a request, from a body of the media type `application/problem+json` (RFC 9457).
///
/// ```swift
/// do {
///   try await client.send(Pay(article: 7))
/// } catch {
///   let balance = error.body(as: ProblemDetails.self)?.extensions["balance"]?.intValue
/// }
/// ```
///
/// The ``title`` and the ``detail`` are the error's ``APIError/serverMessage`` and become part of its
/// ``APIError/message``. A member whose value has another type than the RFC defines is ignored (RFC 9457 section 3.1).
public struct ProblemDetails: Decodable, Sendable, Hashable {
  /// The media type of such a body.
  static let mediaType = "application/problem+json"
  /// The names of the members that the RFC defines.
  private static let standardNames: Set = ["type", "title", "status", "detail", "instance"]

  /// The URI reference that identifies the kind of problem, as the server sent it; `about:blank` if the body has none.
  /// A relative reference is relative to the URL of the request.
  public let type: String
  /// A short summary of the kind of problem, which is the same for each problem of this ``type``.
  public let title: String?
  /// The status code that the server itself generated. A gateway may have changed the ``APIError/status`` since then.
  public let status: Int?
  /// The explanation of this occurrence of the problem, for people.
  public let detail: String?
  /// The URI reference that identifies this occurrence of the problem.
  public let instance: String?
  /// All members that the RFC does not define, by their names as the server wrote them (RFC 9457 section 3.2).
  public let extensions: [String: JSONValue]

  /// Reads the problem from any decoder of JSON. The media type of the response is not known here.
  /// - Throws: `DecodingError` if the value is not an object.
  public init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    guard let problem = ProblemDetails(value) else {
      let context = DecodingError.Context(
        codingPath: decoder.codingPath, debugDescription: "A problem (RFC 9457) is a JSON object.")
      throw DecodingError.typeMismatch(ProblemDetails.self, context)
    }
    self = problem
  }

  /// Reads the body of a response.
  /// - Throws: ``FormatFailure`` if the response has another media type than `application/problem+json`, or if its body
  ///   is not a JSON object.
  public init(_ response: HTTPResponse) throws(FormatFailure) {
    guard response.fields.mediaType?.essence == Self.mediaType else {
      let found = response.fields.shownContentType
      throw FormatFailure(.mismatch, "the response has \(found); problem details have the type \(Self.mediaType)")
    }
    let value: JSONValue
    do throws(JSONError) { value = try JSONValue(parsing: response.body) } catch {
      throw FormatFailure(error == .empty ? .empty : .malformed, error.clause, underlying: error)
    }
    guard let problem = ProblemDetails(value) else { throw FormatFailure(.mismatch, "the body is not a JSON object") }
    self = problem
  }

  private init?(_ value: JSONValue) {
    guard let members = value.objectValue else { return nil }
    type = members["type"]?.stringValue ?? "about:blank"
    title = members["title"]?.stringValue
    status = members["status"]?.intValue
    detail = members["detail"]?.stringValue
    instance = members["instance"]?.stringValue
    extensions = members.filter { !Self.standardNames.contains($0.key) }
  }

  /// The title and the detail as sentences for the message of an error; nil if the problem has neither. The title is
  /// left out if it repeats the reason phrase of the status, as it should for the type `about:blank` (RFC 9457 section
  /// 4.2.1).
  func sentences(after reason: String) -> String? {
    let texts = [title.hasSameBytes(as: reason) ? nil : title, detail].compactMap { $0?.isEmpty == false ? $0 : nil }
    return texts.isEmpty ? nil : texts.map(APIError.ended).joined(separator: " ")
  }
}
