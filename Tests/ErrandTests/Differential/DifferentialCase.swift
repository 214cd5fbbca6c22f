#if os(Linux)
  import CodedSamples
  import Errand
  import ErrandDecoding
  import ErrandTesting
  import Foundation

  /// A request and the response to it, both derived from one number.
  struct DifferentialCase {
    let request: Ask<Data>
    let response: LoopbackAnswer
    /// The faults and forms of the response, for failed comparisons.
    let note: String

    init(_ number: Int) {
      var numbers = SeededNumbers(seed: UInt64(number))
      request = Self.request(number, &numbers)
      var writer = ResponseWriter(numbers)
      writer.write(isHeadRequest: request.method == .head)
      response = writer.answer
      note = writer.notes.joined(separator: ", ")
    }

    private static func request(_ number: Int, _ numbers: inout SeededNumbers) -> Ask<Data> {
      var request = Ask<Data>(path: "/\(number)")
      request.method = [.get, .get, .get, .head, .post, .put, .delete].randomElement(using: &numbers) ?? .get
      if request.method == .post || request.method == .put {
        let count = [0, 1, 900, 70_000].randomElement(using: &numbers) ?? 0
        request.body = .bytes(Data(repeating: 0x78, count: count))
      }
      return request
    }
  }

  /// Writes a response with random forms and faults.
  private struct ResponseWriter {
    private enum Framing: CaseIterable {
      case length, chunked, untilClose, none
    }

    private static let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 % 251) }

    private var numbers: SeededNumbers
    private var head: [UInt8] = []
    private var content: [UInt8] = []
    private var isClosed = false
    private(set) var notes: [String] = []

    init(_ numbers: SeededNumbers) { self.numbers = numbers }

    /// The response in one piece or in several pieces. A response whose end is the end of the connection closes it.
    var answer: LoopbackAnswer {
      var numbers = numbers
      let bytes = head + content
      var steps: [LoopbackAnswer.Step] = []
      let size = numbers.happens(50) ? max(bytes.count, 1) : 1 + numbers.next(below: 7_000)
      for start in stride(from: 0, to: bytes.count, by: size) {
        steps.append(.bytes(Array(bytes[start..<min(start + size, bytes.count)])))
        if size < bytes.count { steps.append(.pause(.zero)) }
      }
      if isClosed { steps.append(.close) }
      return LoopbackAnswer(steps)
    }

    mutating func write(isHeadRequest: Bool) {
      if numbers.happens(10) { writeInformational() }
      let statuses = [200, 200, 200, 201, 204, 206, 301, 302, 304, 307, 400, 404, 409, 410, 422, 500, 501]
      let status = statuses.randomElement(using: &numbers) ?? 200
      writeStatusLine(status)
      if (300..<400).contains(status), status != 304 { line("Location: /target") }
      writeFields()
      let body = writeCoding()
      let mayHaveBody = !isHeadRequest && status != 204 && status != 304
      writeFraming(body, mayHaveBody: mayHaveBody)
    }

    private mutating func line(_ text: String) { head += Array(text.utf8) + [13, 10] }

    private mutating func writeInformational() {
      for _ in 0...numbers.next(below: 3) {
        let status = [100, 102, 103].randomElement(using: &numbers) ?? 100
        notes.append("\(status)")
        line("HTTP/1.1 \(status) Early")
        line("Link: </style.css>; rel=preload")
        line("")
      }
    }

    private mutating func writeStatusLine(_ status: Int) {
      let lines = [
        "HTTP/1.1 \(status)", "HTTP/1.1 \(status) ", "HTTP/1.0 \(status) Old", "HTTP/1.1 \(status) A longer reason",
        "HTTP/1.1  \(status) Spaces", "HTTP/2.0 \(status) Wrong", "http/1.1 \(status) Lower", "HTTP/1.1 \(status)x No",
        "HTTP/1.1", "ICY \(status) OK",
      ]
      let line = numbers.happens(75) ? "HTTP/1.1 \(status) Fine" : lines.randomElement(using: &numbers) ?? ""
      notes.append(line)
      self.line(line)
      isClosed = isClosed || line.hasPrefix("HTTP/1.0")
    }

    private mutating func writeFields() {
      let forms = [
        "X-A: plain", "X-A:no space", "X-A:   \t many spaces \t ", "x-a: lower case", "X-Empty:", "X-A: one\r\n two",
        "X-A: one\r\n\ttwo\r\n  three", "Set-Cookie: a=b; Path=/", "X-Long: \(String(repeating: "l", count: 9_000))",
        "X-A: caf\u{e9}", "Connection: close", "Connection: keep-alive", "Keep-Alive: timeout=5",
      ]
      let faults = [
        "no colon", ": no name", "X A: space in the name", "X-A : space before the colon", "X-A: a\u{0}b", "X-A: a\rb",
        "X-\u{e9}: name", "Content-Length: 5\r\nContent-Length: 6", "Content-Length: +5", "Content-Length: -1",
        "Content-Length: 5, 5", "Content-Length: 99999999999999999999", "Transfer-Encoding: unknown",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity", "\tX-A: folded",
        (0..<300).map { "X-\($0): v" }.joined(separator: "\r\n"), "X-Huge: \(String(repeating: "h", count: 70_000))",
      ]
      for _ in 0..<numbers.next(below: 5) {
        let form = forms.randomElement(using: &numbers) ?? ""
        notes.append(String(form.prefix(20)))
        line(form)
      }
      guard numbers.happens(12), let fault = faults.randomElement(using: &numbers) else { return }
      notes.append(String(fault.prefix(30)))
      line(fault)
      isClosed = true
    }

    /// Writes the content coding, and returns the coded content.
    private mutating func writeCoding() -> [UInt8] {
      let size = [0, 1, 5, 300, 20_000, 100_000].randomElement(using: &numbers) ?? 0
      let plain = Array(Self.content.prefix(size))
      guard numbers.happens(30) else { return plain }
      let codings = ["gzip", "x-gzip", "deflate", "identity", "br", "nonsense", "gzip, gzip"]
      let coding = codings.randomElement(using: &numbers) ?? ""
      line("Content-Encoding: \(coding)")
      notes.append(coding)
      guard coding.contains("gzip") else { return plain }
      var coded = CodedSamples.encode(plain, .gzip)
      if coding == "gzip, gzip" { coded = CodedSamples.encode(coded, .gzip) }
      if numbers.happens(15) { coded.removeLast(min(coded.count, 1 + numbers.next(below: 12))) }
      if numbers.happens(10) { coded += [0, 0, 0] }
      return coded
    }

    private mutating func writeFraming(_ body: [UInt8], mayHaveBody: Bool) {
      let framing = Framing.allCases.randomElement(using: &numbers) ?? .length
      notes.append("\(framing) \(body.count)")
      let isFaulty = numbers.happens(15)
      if isFaulty { notes.append("faulty") }
      var sent = mayHaveBody ? body : []
      switch framing {
      case .length:
        line("Content-Length: \(body.count)")
        if isFaulty, mayHaveBody { shortenOrExtend(&sent) }
      case .chunked:
        line("Transfer-Encoding: chunked")
        if mayHaveBody { sent = chunks(of: body, isFaulty: isFaulty) }
      case .untilClose: isClosed = true
      case .none:
        sent = []
        isClosed = true
      }
      line("")
      content = sent
    }

    /// Makes the content shorter or longer than its announced length.
    private mutating func shortenOrExtend(_ sent: inout [UInt8]) {
      isClosed = true
      if numbers.happens(50) { sent.removeLast(min(sent.count, 3)) } else { sent += Array("extra".utf8) }
    }

    private mutating func chunks(of body: [UInt8], isFaulty: Bool) -> [UInt8] {
      var coded: [UInt8] = []
      var start = 0
      while start < body.count {
        let count = min(body.count - start, 1 + numbers.next(below: 30_000))
        let ending = ["", "", "", ";name=value", " ;a=\"b\"", " ", ";x"].randomElement(using: &numbers) ?? ""
        coded += Array("\(String(count, radix: 16))\(ending)\r\n".utf8) + body[start..<(start + count)] + [13, 10]
        start += count
      }
      guard isFaulty else {
        let trailer = numbers.happens(30) ? "X-Trailer: t\r\n" : ""
        return coded + Array("0\r\n\(trailer)\r\n".utf8)
      }
      isClosed = true
      let ends = ["", "0", "0\r\n", "zz\r\n", "-1\r\n", "ffffffffffffffffff\r\n", "5\r\nab", "2\r\nabcd\r\n0\r\n\r\n"]
      return coded + Array((ends.randomElement(using: &numbers) ?? "").utf8)
    }
  }
#endif
