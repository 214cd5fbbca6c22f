extension TransportFailure {
  /// The failure that an error stands for: itself, or the one that an interceptor around the exchange has seen; nil for
  /// another error.
  package static func behind(_ error: any Error) -> TransportFailure? {
    switch error {
    case let failure as TransportFailure: failure
    case let error as APIError where error.stage == .transport: error.cause.flatMap(behind)
    default: nil
    }
  }
}

extension APIError {
  /// Throws where a request may not be sent as it is.
  static func check(_ request: HTTPRequest) throws(APIError) {
    do throws(WireFault) { try WireRules.check(request) } catch { throw APIError(error) }
  }

  /// Throws where a field may not be sent as it is.
  static func check(_ field: HTTPField) throws(APIError) {
    do throws(WireFault) { try WireRules.check(field) } catch { throw APIError(error) }
  }

  private init(_ fault: WireFault) {
    let code: Code =
      switch fault.part {
      case .method: .invalidMethod
      case .body: .invalidBody
      case .header: .invalidHeader
      }
    self = .build(code, fault.message)
  }
}
