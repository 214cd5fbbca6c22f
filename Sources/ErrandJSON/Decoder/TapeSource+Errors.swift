/// The errors of a decoding: in cases, ways and types those of `JSONDecoder`.
extension TapeSource {
  /// Another kind of value lies there than the one that is due.
  func mismatch(_ due: any Any.Type, at index: Int) -> DecodingError {
    isNull(at: index) ? noValue(due, at: index) : mismatchEvenOfNull(due, at: index)
  }

  func mismatchEvenOfNull(_ due: any Any.Type, at index: Int) -> DecodingError {
    let found = document.word(index).nameInErrors
    return .typeMismatch(due, context("Expected to decode \(due) but found \(found) instead.", at: index))
  }

  /// Null lies there.
  func noValue(_ due: any Any.Type, at index: Int) -> DecodingError {
    let container = due == [String: Any].self ? "keyed" : due == [Any].self ? "unkeyed" : nil
    let wanted = container.map { "\($0) decoding container" } ?? "value of type \(due)"
    return .valueNotFound(due, context("Cannot get \(wanted) -- found null value instead", at: index))
  }

  /// The number that lies there is none of the type's.
  func misfit(_ due: any Any.Type, at index: Int) -> DecodingError {
    let number = JSONDocument.shortened(document.numeral(document.word(index)))
    return corrupted("The number \(number) does not fit in \(due).", at: index)
  }

  func corrupted(_ reason: String, at index: Int) -> DecodingError { .dataCorrupted(context(reason, at: index)) }

  private func context(_ reason: String, at index: Int) -> DecodingError.Context {
    DecodingError.Context(codingPath: path(to: index), debugDescription: reason)
  }
}

extension JSONWord {
  /// What lies there, as `JSONDecoder` calls it.
  fileprivate var nameInErrors: String {
    switch kind {
    case .null: "null"
    case .no, .yes: "bool"
    case .integer, .decimal: "number"
    case .plain, .escaped: "a string"
    case .array: "an array"
    case .object, .crowd: "a dictionary"
    }
  }
}
