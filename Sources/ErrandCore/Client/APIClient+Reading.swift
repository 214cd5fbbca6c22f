extension APIClient {
  /// Judges and decodes an answer that came by another way than the line, as a call of this request would: status,
  /// content type, JSON, business code and shape, then the decoder. The request is neither built nor sent; interceptors,
  /// accessories and hooks hear nothing.
  /// - Throws: ``APIError`` with the answer, and where that was refused with its body as the request's type for errors.
  package func value<R: APIRequest>(of response: HTTPResponse, for request: R) async throws(APIError) -> R.Response {
    let typed = TypedCall(request)
    var options = CallOptions()
    // A run with a probe is told to nobody: accessory, hook or log.
    options.probe = { _, _ in }
    let run = run(typed, options)
    let came = await run.reading(response)
    run.state.settle()
    return try typed.value(of: run.finish(came) { $0 })
  }
}
