import ErrandCore

/// Parses the range of a file that a request asks for.
struct RequestedRange {
  /// The bytes that the request asks for.
  enum Selection: Equatable {
    case whole
    case part(Range<Int>)
    /// The requested range contains no byte of the file.
    case nothing
  }

  private let range: String?
  private let ifRange: String?

  init(_ request: RecordedRequest) {
    range = request.method == "GET" ? request.headers["Range"] : nil
    ifRange = request.headers["If-Range"]
  }

  /// The bytes that a server with the given behaviour sends in response to the request.
  func selection(by behaviour: RangeBehaviour) -> Selection {
    guard let range, meetsIfRange(behaviour) else { return .whole }
    switch behaviour.ranges {
    case .honoured: return Self.parse(range, size: behaviour.resource.size)
    case .ignored: return .whole
    case .refused: return .nothing
    }
  }

  private func meetsIfRange(_ behaviour: RangeBehaviour) -> Bool {
    guard let ifRange else { return true }
    switch behaviour.ifRange {
    case .ignored: return true
    case .neverMet: return false
    case .honoured:
      let validators = RangeValidatorFields(behaviour)
      return ifRange.hasPrefix("\"") ? ifRange == validators.entityTag : ifRange == validators.lastModified
    }
  }

  /// Parses a single byte range (RFC 9110 section 14.1.2). If the text has several ranges or is invalid, the result is
  /// the whole file, because a server may ignore such a field.
  static func parse(_ text: String, size: Int) -> Selection {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].lowercased() == "bytes" else { return .whole }
    let ends = parts[1].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2 else { return .whole }
    switch (ends[0].isEmpty, ends[1].isEmpty) {
    case (true, false):
      guard let length = number(ends[1]) else { return .whole }
      return part(max(0, size - length)..<size)
    case (false, true):
      guard let first = number(ends[0]) else { return .whole }
      return part(min(first, size)..<size)
    case (false, false):
      guard let first = number(ends[0]), let last = number(ends[1]), first <= last else { return .whole }
      return part(min(first, size)..<(last < size ? last + 1 : size))
    case (true, true): return .whole
    }
  }

  private static func part(_ range: Range<Int>) -> Selection { range.isEmpty ? .nothing : .part(range) }

  private static func number(_ text: Substring) -> Int? {
    text.utf8.allSatisfy(ASCII.isDigit) ? Int(text) : nil
  }
}
