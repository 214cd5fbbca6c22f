import ErrandCore

extension ScriptedAnswer {
  /// Brings the fields that tell the length and the digests of the body in line with another body. Those of a coded
  /// answer are about the coded bytes, which nobody has: they stay.
  mutating func fitLength() {
    let length = String(body.count)
    guard !isCoded, head.fields.values(of: .contentLength).contains(where: { $0 != length }) else { return }
    fitChangedBody()
  }

  /// The same where the body is known to be another one, which may be as long: then no digest is right.
  mutating func fitChangedBody() {
    if !isCoded, head.fields.contains(.contentLength) { head.fields[.contentLength] = String(body.count) }
    for name in ["Content-Digest", "Repr-Digest"] as [HTTPFieldName] {
      head.fields[name] = nil
      trailers[name] = nil
    }
  }

  private var isCoded: Bool { head.fields.contains(.contentEncoding) }
}
