package import ErrandJSON
import ErrandSupport
import Foundation

/// How the answers to one request are read, for comparing answers that came earlier with the type of today.
package struct AnswerReading: Sendable {
  /// What is sent, without what stands below the freeze.
  package let request: HTTPRequest
  /// Where an answer and the types differ; nothing for types that are not read from JSON.
  package let misfits: @Sendable (HTTPResponse) -> [JSONMisfit]
}

extension APIClient {
  /// How the answers to a request are read. Nothing is sent.
  /// - Throws: ``APIError`` where the request cannot be built.
  package func reading<R: APIRequest>(of request: R) async throws(APIError) -> AnswerReading {
    let made = Locked<AnswerReading?>(nil)
    let shared = request.jsonDecoding ?? configuration.jsonDecoding
    let decoder = request.decoder
    let format = request.family?.responseFormat ?? configuration.responseFormat
    try await probing(request) { frozen, context in
      // Not the plan itself: it holds this closure.
      let (statuses, envelope) = (context.plan.statusRule, context.plan.envelope)
      made.withLock {
        $0 = AnswerReading(request: frozen) { response in
          statuses.takes(response, envelope)
            ? decoder.misfits(in: response, shared, envelope, format)
            : ResponseDecoder<R.ErrorBody>.automatic.misfits(in: response, shared, nil, format)
        }
      }
    }
    if let made = made.withLock({ $0 }) { return made }
    throw APIError(.build, .unsupported, "The request could not be built.")
  }
}

extension ResponseDecoder {
  fileprivate func misfits(
    in response: HTTPResponse, _ shared: JSONDecoding, _ envelope: Envelope?, _ format: (any ResponseFormat)?
  ) -> [JSONMisfit] {
    guard let type = Value.self as? any Decodable.Type, !readsOther(format) else { return [] }
    let place = envelope?.value ?? .root
    switch json {
    case nil: return []
    case .shared: return shared.misfits(of: type, in: response.body, at: place)
    case .own(let rules): return rules.misfits(of: type, in: response.body, at: place)
    }
  }
}

extension StatusRule {
  /// Whether an answer is a success that a value is made of, by its status and its business code.
  fileprivate func takes(_ response: HTTPResponse, _ envelope: Envelope?) -> Bool {
    guard accepts(response.status) else { return false }
    guard let envelope, envelope.code != nil, let body = try? ParsedJSON(response.body) else { return true }
    return envelope.refusal(of: body) == nil
  }
}
