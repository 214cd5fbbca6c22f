import Errand
import ErrandCore

/// The common properties of all requests. A `Response` that is a message is decoded as protobuf.
protocol LedgerRequest: APIRequest {}

extension LedgerRequest {
  var family: RequestFamily? { RequestFamily("ledger", headers: ["X-App": "ledger"]) }
}

extension LedgerRequest where Response: WireMessage {
  var validation: ResponseValidation { ResponseValidation(contentTypes: ["application/x-protobuf"]) }
  var decoder: ResponseDecoder<Response> { .protobuf() }
}

/// A request that also sends a message.
protocol MessageRequest: LedgerRequest {
  associatedtype Message: WireMessage
  var message: Message { get }
}

extension MessageRequest {
  var method: HTTPMethod { .post }
  var body: RequestBody? { .protobuf(message) }
}
