import ErrandCore

extension ScriptedAnswer {
  /// Brings the fields that tell the length and the digests of the body in line with another body.
  mutating func fitLength() {
    let length = String(body.count)
    guard head.fields.values(of: .contentLength).contains(where: { $0 != length }) else { return }
    fitChangedBody()
  }

  /// The same where the body is known to be another one, which may be as long.
  mutating func fitChangedBody() {
    if head.fields.contains(.contentLength) { head.fields[.contentLength] = String(body.count) }
    for name in ["Content-Digest", "Repr-Digest"] as [HTTPFieldName] {
      head.fields[name] = nil
      trailers[name] = nil
    }
  }
}
