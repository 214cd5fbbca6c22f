#if os(Linux)
  import ErrandDecoding
  import ErrandHTTP
  import Foundation

  extension EngineExchange {
    /// Chooses the destination of the body after the headers of the final response have arrived.
    func begin(
      _ framing: BodyFraming, _ head: ResponseHead, _ contentEncoding: String, _ loop: EngineLoop
    ) throws {
      isExpectationRefused = expectsContinue && head.status == 417 && upload?.canBeSentAgain == true
      isChallenged = forwardingProxy != nil && loop.takeProxyResponse(head, to: self) && upload?.canBeSentAgain != false
      content = try ContentReceiver(
        try destination(for: head, loop), framing: framing, contentEncoding: contentEncoding,
        limits: exchange.limits, refusesUnknownCodings: loop.configuration.refusesUnknownContentCodings,
        scratch: loop.decodingBuffer)
      finishUploadReport()
    }

    private func destination(for head: ResponseHead, _ loop: EngineLoop) throws -> ContentReceiver.Destination {
      if isExpectationRefused || isChallenged { return .discard }
      return try ContentReceiver.Destination(
        head, exchange,
        BodyFlow { [weak self, weak loop] in
          guard let self, let loop else { return }
          loop.push(.resumeBody(self))
        })
    }

    /// True if the whole request body was read from its source.
    var hasReadBody: Bool { file?.hasEnded ?? (upload?.hasEnded == true) }

    /// Reports the progress of the upload.
    func reportUpload(_ loop: EngineLoop) {
      guard progress != nil, let upload else { return }
      progress?.report(.upload, file?.sent ?? upload.sent, total: upload.total, at: loop.now)
      loop.expectWatch(of: self)
    }

    /// Reports the final progress of the upload if the request body was sent completely.
    func finishUploadReport() {
      guard progress != nil, let body = exchange.request.body else { return }
      if let upload {
        if hasReadBody { progress?.finish(.upload, file?.sent ?? upload.sent) }
      } else if let length = body.length {
        progress?.finish(.upload, length)
      }
    }

    func reportDownload(total: Int64?, _ loop: EngineLoop) {
      guard progress != nil, let content, content.wireBytes > 0 else { return }
      progress?.report(.download, content.wireBytes, total: total, at: loop.now)
      loop.expectWatch(of: self)
    }

    /// Checks that the body is complete, and creates the response. Throws an error for status 407 of the proxy, because
    /// it is not a response of the server.
    func finish(
      _ head: ResponseHead, mayBeCutOff: Bool, trailers: () -> HTTPFields
    ) throws -> HTTPResponse {
      if forwardingProxy != nil, head.status == 407 {
        let text = FailureText.proxyCredentials(head.fields, origin: origin)
        throw TransportFailure(.proxyCredentials, text, isCertainlyNotSent: !wasBegun)
      }
      try content?.finish(mayBeCutOff: mayBeCutOff)
      finishUploadReport()
      progress?.finish(.download, content?.wireBytes ?? 0)
      let body = content?.takeMemory() ?? Data()
      let hasTrailers = content?.needsNoMore == false && !mayBeCutOff
      let response = HTTPResponse(
        head: head, body: body, trailers: hasTrailers ? trailers() : HTTPFields(), url: exchange.request.url,
        metrics: finalMetrics())
      return exchange.sink == nil && content?.isCut == true ? response.cut() : response
    }
  }
#endif
