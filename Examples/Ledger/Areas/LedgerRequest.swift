import Errand

/// What the requests of all areas have in common: they ask for a message, unless one says otherwise.
protocol LedgerRequest: APIRequest {}

extension LedgerRequest {
  var family: RequestFamily? { RequestFamily("ledger", headers: ["X-App": "ledger"]) }
}

extension LedgerRequest where Response: WireMessage {
  var contentTypes: [String]? { ["application/x-protobuf"] }
  var decoder: ResponseDecoder<Response> { .protobuf() }
}

/// A request that sends a message, too.
protocol MessageRequest: LedgerRequest {
  associatedtype Message: WireMessage
  var message: Message { get }
}

extension MessageRequest {
  var method: HTTPMethod { .post }
  var body: RequestBody? { .protobuf(message) }
}
