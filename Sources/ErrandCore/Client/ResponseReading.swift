package import ErrandJSON
import ErrandSupport
import Foundation

/// Checks whether recorded responses to one request still fit the types of the request.
package struct ResponseReading: Sendable {
  /// The final request, before credential, cookies and signature are added.
  package let request: HTTPRequest
  /// Returns the differences between a response and the types of the request; empty for types that are not decoded from
  /// JSON.
  package let misfits: @Sendable (HTTPResponse) -> [JSONMisfit]
}

extension APIClient {
  /// Makes a checker that compares responses to a request with the types of the request. Nothing is sent.
  /// - Throws: ``APIError`` if the request cannot be built.
  package func reading<R: APIRequest>(of request: R) async throws(APIError) -> ResponseReading {
    let made = Locked<ResponseReading?>(nil)
    let shared = jsonDecoding(of: request)
    let decoder = request.decoder
    let format = request.family?.responseFormat ?? configuration.responseFormat
    try await probing(request) { frozen, context in
      // Captures two values instead of the whole plan. The plan holds this closure, so capturing the plan would make a
      // reference cycle.
      let (statuses, envelope) = (context.plan.statusRule, context.plan.envelope)
      made.withLock {
        $0 = ResponseReading(request: frozen) { response in
          statuses.takes(response, envelope)
            ? decoder.misfits(in: response, shared, envelope, format)
            : ResponseDecoder<R.ErrorBody>.automatic.misfits(in: response, shared, .none, format)
        }
      }
    }
    if let made = made.withLock({ $0 }) { return made }
    throw APIError(.build, .unsupported, "The request could not be built.")
  }
}

extension ResponseDecoder {
  fileprivate func misfits(
    in response: HTTPResponse, _ shared: JSONDecoding, _ envelope: Envelope, _ format: (any ResponseFormat)?
  ) -> [JSONMisfit] {
    guard let type = Value.self as? any Decodable.Type, !readsOther(format) else { return [] }
    let place = envelope.value
    switch json {
    case nil: return []
    case .shared: return shared.misfits(of: type, in: response.body, at: place)
    case .own(let rules): return rules.misfits(of: type, in: response.body, at: place)
    }
  }
}

extension StatusRule {
  /// True if the status and the business code of a response mean success. Then a value is decoded from the response.
  fileprivate func takes(_ response: HTTPResponse, _ envelope: Envelope) -> Bool {
    guard accepts(response.status) else { return false }
    guard envelope.code != nil, let body = try? ParsedJSON(response.body) else { return true }
    return envelope.refusal(of: body) == nil
  }
}
