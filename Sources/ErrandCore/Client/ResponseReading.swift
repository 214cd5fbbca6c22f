package import ErrandJSON
import ErrandSupport
import Foundation

/// Checks whether recorded responses to one request still fit the types into which the request decodes its responses.
package struct ResponseReading: Sendable {
  /// The frozen request (see ``Freezing``), without credential, cookies and signature.
  package let request: HTTPRequest
  /// Returns the differences between a response and the types into which the request decodes its responses; empty if
  /// these types are not decoded from JSON.
  package let differences: @Sendable (HTTPResponse) -> [JSONDifference]
}

extension APIClient {
  /// Makes a ``ResponseReading``, which compares responses with the types of a request. Nothing is sent.
  /// - Throws: ``APIError`` if the request cannot be built, or if an interceptor answers it.
  package func reading<R: APIRequest>(of request: R) async throws(APIError) -> ResponseReading {
    let made = Locked<ResponseReading?>(nil)
    let formats = formats(of: request)
    let decoder = request.decoder
    try await inspect(request) { frozen, context in
      // The inner closure captures two values of the call plan instead of the whole plan. The plan holds the outer
      // closure, so capturing the plan would make a reference cycle.
      let (statuses, envelope) = (context.plan.rules.status, context.plan.rules.envelope)
      made.withLock {
        $0 = ResponseReading(request: frozen) { response in
          statuses.takes(response, envelope)
            ? decoder.differences(in: response, envelope, formats)
            : ResponseDecoder<R.ErrorBody>.automatic.differences(in: response, .none, formats)
        }
      }
    }
    if let made = made.withLock({ $0 }) { return made }
    throw .fault(.build, .unsupported, "The request was built but did not arrive.")
  }
}

extension ResponseDecoder {
  fileprivate func differences(
    in response: HTTPResponse, _ envelope: Envelope, _ formats: Formats
  ) -> [JSONDifference] {
    guard let type = Value.self as? any Decodable.Type, !input.readsOther(formats.shared) else { return [] }
    let place = envelope.value
    switch input.json {
    case nil: return []
    case .shared: return formats.jsonDecoding.differences(of: type, in: response.body, at: place)
    case .own(let rules): return rules.differences(of: type, in: response.body, at: place)
    }
  }
}

extension StatusRule {
  /// True if the status and the business code (the result code in the body) of a response mean success. In that case a
  /// value is decoded from the response.
  fileprivate func takes(_ response: HTTPResponse, _ envelope: Envelope) -> Bool {
    guard accepts(response.status) else { return false }
    guard envelope.code != nil, let body = try? ParsedJSON(response.body) else { return true }
    return envelope.refusal(of: body) == nil
  }
}
