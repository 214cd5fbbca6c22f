#if os(Linux)
  import ErrandHTTP
  import Testing

  @testable import ErrandEngine

  struct HTTP2StreamMachineTests {
    /// An event on a stream.
    enum Step: Sendable {
      case head([String: String], ends: Bool = false)
      case fields([(String, String)], ends: Bool = false)
      case content(Int, ends: Bool = false)
      case end
    }

    /// Runs events. Returns the machine, or the failure of the first event that fails.
    private static func run(
      _ steps: [Step], limits: ResponseLimits = ResponseLimits(), isHeadRequest: Bool = false
    ) throws(TransportFailure) -> (machine: HTTP2StreamMachine, sections: [HTTP2StreamMachine.Section]) {
      var machine = HTTP2StreamMachine(limits: limits, isHeadRequest: isHeadRequest)
      var sections: [HTTP2StreamMachine.Section] = []
      for step in steps {
        switch step {
        case .head(let fields, let ends):
          let status = fields[":status"].map { [(":status", $0)] } ?? []
          let others = fields.filter { $0.key != ":status" }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
          sections.append(try take(status + others, ends, &machine))
        case .fields(let fields, let ends): sections.append(try take(fields, ends, &machine))
        case .content(let count, let ends):
          try machine.takeContent(count)
          if ends { try machine.endStream() }
        case .end: try machine.endStream()
        }
      }
      return (machine, sections)
    }

    private static func take(
      _ fields: [(String, String)], _ ends: Bool, _ machine: inout HTTP2StreamMachine
    ) throws(TransportFailure) -> HTTP2StreamMachine.Section {
      try machine.beginSection()
      for (name, value) in fields {
        let (name, value) = (Array(name.utf8), Array(value.utf8))
        let result = name.withUnsafeBytes { name in
          value.withUnsafeBytes { value in
            Result { () throws(TransportFailure) in try machine.take(name, value) }
          }
        }
        try result.get()
      }
      return try machine.endSection(endsStream: ends)
    }

    private static func failure(
      _ steps: [Step], limits: ResponseLimits = ResponseLimits(), isHeadRequest: Bool = false
    ) -> TransportFailure.Kind? {
      do {
        _ = try run(steps, limits: limits, isHeadRequest: isHeadRequest)
        return nil
      } catch {
        return error.kind
      }
    }

    @Test(arguments: [
      [Step.head([":status": "200"]), .content(3), .content(4, ends: true)],
      [.head([":status": "200", "content-length": "7"]), .content(7), .end],
      [.head([":status": "200"], ends: true)],
      [.head([":status": "204"]), .end],
      [.head([":status": "204", "content-length": "9"], ends: true)],
      [.head([":status": "304", "content-length": "9"], ends: true)],
      [.head([":status": "103", "link": "</a>"]), .head([":status": "200"]), .content(0, ends: true)],
      [.head([":status": "200"]), .content(1), .fields([("x-sum", "1")], ends: true)],
      [.head([":status": "200", "content-length": "0"], ends: true)],
      [.head([":status": "200", "content-length": "5", "content-encoding": "gzip"]), .content(5, ends: true)],
    ]) func `a valid response becomes whole`(_ steps: [Step]) throws {
      let (machine, sections) = try Self.run(steps)
      #expect(machine.isWhole && machine.head.version == .http2 && machine.head.status >= 200)
      #expect(machine.reset(code: 0) == .response && machine.ending(isWritten: true) == .response)
      #expect(sections.contains { if case .head = $0 { true } else { false } })
    }

    @Test(arguments: [
      // The order of the parts.
      [Step.content(1)], [.end], [.head([":status": "200"]), .end, .content(1)],
      [.head([":status": "103"], ends: true)], [.head([":status": "200"]), .fields([("x", "y")])],
      [.head([":status": "200"]), .end, .fields([("x", "y")], ends: true)],
      [.head([":status": "200"]), .head([":status": "103"])],
      // The length of the content.
      [.head([":status": "200", "content-length": "7"]), .content(8)],
      [.head([":status": "200", "content-length": "7"]), .content(6, ends: true)],
      [.head([":status": "200", "content-length": "7"], ends: true)],
      [.head([":status": "200", "content-length": "7"]), .content(6), .fields([("x", "y")], ends: true)],
      [.head([":status": "204"]), .content(1)], [.head([":status": "200", "content-length": "x"])],
      [.fields([(":status", "200"), ("content-length", "1"), ("content-length", "2")])],
      // Pseudo-header fields.
      [.head(["server": "x"])], [.fields([])], [.fields([("server", "x"), (":status", "200")])],
      [.fields([(":status", "200"), (":status", "200")])], [.fields([(":status", "200"), (":path", "/")])],
      [.fields([(":path", "/"), (":status", "200")])], [.fields([(":STATUS", "200")])],
      [.head([":status": "20"])], [.head([":status": "2000"])], [.head([":status": "+20"])],
      [.head([":status": "099"])], [.head([":status": "101"])],
      [.head([":status": "200"]), .fields([(":status", "200")], ends: true)],
      // Names, values, and fields about the connection.
      [.head([":status": "200", "Server": "x"])], [.head([":status": "200", "": "x"])],
      [.head([":status": "200", " x": "y"])], [.head([":status": "200", "x:y": "z"])],
      [.head([":status": "200", "x": "a\r\nb"])], [.head([":status": "200", "x": "a\0"])],
      [.head([":status": "200", "x": "a\n"])],
      [.head([":status": "200", "connection": "close"])], [.head([":status": "200", "keep-alive": "1"])],
      [.head([":status": "200", "proxy-connection": "x"])], [.head([":status": "200", "upgrade": "x"])],
      [.head([":status": "200", "transfer-encoding": "chunked"])],
      [.head([":status": "200"]), .fields([("connection", "x")], ends: true)],
    ]) func `a response that breaks a rule is malformed`(_ steps: [Step]) {
      #expect(Self.failure(steps) == .malformedResponse)
    }

    @Test func `a response to HEAD has no content`() {
      let head = Step.head([":status": "200", "content-length": "7"])
      #expect(Self.failure([head, .end], isHeadRequest: true) == nil)
      #expect(Self.failure([head, .content(1)], isHeadRequest: true) == .malformedResponse)
    }

    @Test func `the limits apply to decoded fields`() {
      var limits = ResponseLimits()
      (limits.headBytes, limits.fieldCount, limits.informationalCount) = (100, 3, 2)
      let long = [("x", String(repeating: "a", count: 90))]
      let many = (0..<4).map { ("x\($0)", "y") }
      let status = [(":status", "200")]
      let informational = Step.head([":status": "103"])
      for (steps, kind) in [
        ([Step.fields(status + [("x", "a")])], nil), ([.fields(status + long)], .tooLarge),
        ([.fields(status + many)], .tooLarge), ([informational, informational], nil),
        ([informational, informational, informational], .tooLarge),
        ([.fields(status), .fields(long + [("y", "123456")], ends: true)], .tooLarge),
        ([.fields(status), .fields(many, ends: true)], .tooLarge),
      ] as [([Step], TransportFailure.Kind?)] {
        #expect(Self.failure(steps, limits: limits) == kind)
      }
    }

    @Test func `the fields and the trailers are kept`() throws {
      var machine = try Self.run([
        .fields([(":status", "200"), ("set-cookie", " a=1\t"), ("set-cookie", "b=2"), ("x-empty", "")]), .content(2),
        .fields([("x-sum", "12 ")], ends: true),
      ]).machine
      #expect(machine.head.fields["X-Empty"] == "" && machine.head.fields.values(of: .setCookie) == ["a=1", "b=2"])
      #expect(machine.bytesReceived > 2)
      let trailers = machine.takeTrailers()
      #expect(trailers["X-Sum"] == "12" && trailers.all.count == 1)
    }

    @Test func `only a refused stream is certainly unprocessed`() throws {
      let states: [([Step], HTTP2StreamMachine.Reset)] = [
        ([], .unprocessed), ([.head([":status": "103"])], .failure), ([.head([":status": "200"])], .failure),
        ([.head([":status": "200"], ends: true)], .response),
      ]
      for (steps, expected) in states {
        let machine = try Self.run(steps).machine
        #expect(machine.reset(code: 7) == expected)
        #expect(machine.reset(code: 13) == (expected == .unprocessed ? .http1Required : expected))
        for code in [UInt32(0), 1, 2, 8, 11, 12, 14, 99] {
          #expect(machine.reset(code: code) == (expected == .response ? .response : .failure))
        }
      }
    }

    @Test func `the end of the connection depends on the progress`() throws {
      let states: [([Step], ConnectionMachine.Ending)] = [
        ([], .beforeResponse), ([.head([":status": "103"])], .inHead), ([.head([":status": "200"])], .inBody),
        ([.head([":status": "200"]), .content(5)], .inBody), ([.head([":status": "200"]), .end], .response),
      ]
      for (steps, expected) in states {
        let machine = try Self.run(steps).machine
        #expect(machine.ending(isWritten: true) == expected)
        #expect(machine.ending(isWritten: false) == (expected == .response ? .response : .unsent))
      }
    }
  }
#endif
