import ErrandCore

extension HTTPArchive {
  /// A copy in which the secrets are masked: credentials, cookies, and the values of header fields, of queries and in
  /// bodies whose names suggest a secret. A secret of one exchange is masked in all texts of its call. Of bodies that
  /// are neither JSON nor a form only the length is shown.
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
      responseFields: HTTPFields(response.headers))
  }

  fileprivate func masked(_ mask: FlightMask) -> HTTPArchive.Entry {
    let (sent, received) = (HTTPFields(request.headers), HTTPFields(response.headers))
    var copy = self
    copy.request.url = mask.url(request.url)
    copy.request.headers = mask.fields(sent)
    copy.request.body = request.body.map { mask.body($0, sent) }
    copy.response.reason = mask.text(response.reason)
    copy.response.headers = mask.fields(received)
    copy.response.body = response.isBase64 ? nil : response.body.map { mask.body($0, received) }
    copy.response.isBase64 = false
    copy.response.failure = response.failure.map(mask.text)
    copy.details?.tag = details?.tag.map(mask.text)
    copy.details?.end?.failure?.message = mask.text(details?.end?.failure?.message ?? "")
    copy.details?.end?.decisions = (details?.end?.decisions ?? []).map { decision in
      var decision = decision
      decision.text = mask.text(decision.text)
      return decision
    }
    return copy
  }
}
