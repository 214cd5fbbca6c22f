import ErrandCore

extension HTTPArchive {
  /// A copy in which the secrets are masked: credentials, cookies, and the values of header fields, of queries and in
  /// bodies whose names suggest a secret. A secret of one exchange is masked in all texts of its call. Of bodies that
  /// are neither JSON nor a form only the length is shown. If the archive does not contain a JSON or form body of a
  /// request, or only a part of it or compressed bytes, the texts of the responses of that call are hidden, because the
  /// server may repeat a secret of the request.
  public var masked: HTTPArchive {
    var copy = self
    for indices in indicesByCall {
      let mask = FlightMask(archived: indices.map { entries[$0].exchange })
      for index in indices { copy.entries[index] = entries[index].masked(mask) }
    }
    return copy
  }
}

extension ArchivedCall {
  /// A copy in which the secrets are masked as in ``HTTPArchive/masked``. For a few calls of a large archive, this takes
  /// less time.
  public var masked: ArchivedCall {
    let mask = FlightMask(archived: entries.map(\.exchange))
    return ArchivedCall(number: number, run: run, entries: entries.map { $0.masked(mask) })
  }
}

extension HTTPArchive.Entry {
  fileprivate var exchange: FlightMask.ArchivedExchange {
    FlightMask.ArchivedExchange(
      url: request.url, requestFields: HTTPFields(request.headers), requestBody: request.body,
      requestBodySize: knownBodySize, responseFields: HTTPFields(response.headers))
  }

  /// The length of the request body, unless a browser may have written the text of the body with another length, such as
  /// the decoded values of a form.
  private var knownBodySize: Int? { details == nil && request.body?.isEmpty == false ? nil : request.bodySize }

  fileprivate func masked(_ mask: FlightMask) -> HTTPArchive.Entry {
    let (sent, received) = (HTTPFields(request.headers), HTTPFields(response.headers))
    var copy = self
    copy.request.url = mask.url(request.url)
    copy.request.headers = mask.fields(sent)
    copy.request.body = request.body.map { mask.body($0, sent) }
    copy.response.reason = mask.serverText(response.reason)
    copy.response.headers = mask.responseFields(received)
    copy.response.body = response.isBase64 ? nil : response.body.map { mask.responseBody($0, received) }
    copy.response.isBase64 = false
    // A failure may quote the response, if there is one.
    let failureText = response.status == nil ? mask.text : mask.serverText
    copy.response.failure = response.failure.map(failureText)
    copy.details?.tag = details?.tag.map(mask.text)
    copy.details?.end?.failure?.message = failureText(details?.end?.failure?.message ?? "")
    copy.details?.end?.decisions = (details?.end?.decisions ?? []).map { decision in
      var decision = decision
      decision.text = mask.text(decision.text)
      return decision
    }
    return copy
  }
}
