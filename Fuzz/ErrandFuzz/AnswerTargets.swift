@testable import ErrandCore
@testable import ErrandHTTP
@testable import ErrandCurl

/// Heads and chunks of answers.
enum AnswerTargets {
  private static let small = ResponseLimits(bodyBytes: 4096, headBytes: 512, fieldCount: 8, informationalCount: 2)

  /// Bits of the first byte choose limits, method and dialect; the rest is the head, line by line.
  static func responseHead(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let limits = choice & 1 == 0 ? ResponseLimits() : small
    let dialects: [HeadParser.Dialect] = [.http1, .http2, .either, .either]
    var parser = HeadParser(
      limits: limits, isHeadRequest: choice & 2 != 0, dialect: dialects[Int(choice >> 2 & 3)])
    var taken: Int64 = 0
    for line in rest.lines {
      taken += Int64(line.count)
      guard let event = try? parser.take(line) else { return }
      check(parser.totalBytes == taken, "every byte is counted")
      switch event {
      case .nothing: continue
      case .informational: check((100..<200).contains(parser.head.status), "1xx is informational")
      case .final(let framing): return checkFinal(parser, framing, limits)
      }
    }
  }

  private static func checkFinal(_ parser: HeadParser, _ framing: BodyFraming, _ limits: ResponseLimits) {
    let head = parser.head
    check(parser.isFinal && (200...999).contains(head.status), "a final head has a final status")
    let fields = head.fields.all
    check(fields.count <= limits.fieldCount, "fields are counted")
    for field in fields {
      check(ASCII.isToken(field.name.rawValue), "a name is a token")
      check(!field.value.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0 }, "no value breaks a line")
      check(head.fields.values(of: field.name).contains(field.value), "each field is found by its name")
    }
    if case .length(let length) = framing { check(length > 0, "a length is positive") }
    if case .chunked = framing { check(head.version == .http1_1, "only HTTP/1.1 has chunks") }
    _ = parser.announcedForbiddenBody
  }

  static func statusLine(_ input: FuzzInput) {
    guard let content = try? HeadLine.content(input.bytes), let line = try? StatusLine(content) else { return }
    check((100...999).contains(line.code), "a status has three digits")
    let words = [line.version == .http2 ? "HTTP/2" : "HTTP/\(line.version.rawValue)", "\(line.code)"]
    check(input.bytes.starts(with: words[0].utf8) || line.version != .http2, "the version is the one that stands there")
    check(line.reason.utf8.count <= input.bytes.count * 2, "the reason is not longer than the line")
  }

  /// The first byte says in pieces of which size the rest comes: that must make no difference.
  static func chunks(_ input: FuzzInput) {
    guard let (choice, rest) = input.choice else { return }
    let limits = choice & 0x80 == 0 ? ResponseLimits() : small
    let whole = Chunked(rest.bytes, piece: max(rest.bytes.count, 1), limits)
    let pieces = Chunked(rest.bytes, piece: Int(choice & 0x0F) + 1, limits)
    check(whole == pieces, "the size of pieces makes no difference")
    check(whole.data.count <= rest.bytes.count, "no byte is made up")
  }

  /// What a chunked body comes to.
  private struct Chunked: Equatable {
    var data: [UInt8] = []
    var isDone = false
    var failed = false
    var hasExcess = false

    init(_ bytes: UnsafeRawBufferPointer, piece: Int, _ limits: ResponseLimits) {
      var parser = ChunkParser(limits: limits)
      var start = 0
      while start < bytes.count, !failed {
        let end = min(start + piece, bytes.count)
        take(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), &parser)
        start = end
      }
      isDone = parser.isDone
      hasExcess = parser.hasExcess
      if isDone { check(parser.takeTrailers().all.count <= limits.fieldCount, "trailers are counted") }
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ parser: inout ChunkParser) {
      var used = 0
      while used < bytes.count {
        let rest = UnsafeRawBufferPointer(rebasing: bytes[used...])
        guard let step = try? parser.next(rest) else {
          failed = true
          return
        }
        switch step {
        case .framing(let count):
          check((1...rest.count).contains(count), "every step goes on")
          used += count
        case .data(let count):
          check((1...rest.count).contains(count), "every step goes on")
          data += rest[..<count]
          used += count
        }
      }
    }
  }
}
