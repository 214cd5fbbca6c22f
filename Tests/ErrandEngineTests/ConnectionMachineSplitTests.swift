#if os(Linux)
  import ErrandHTTP
  import Foundation
  import Testing
  import TransportChecks

  @testable import ErrandEngine

  /// A response has the same result wherever its bytes are split.
  struct ConnectionMachineSplitTests {
    /// The result of a response.
    enum Outcome: Equatable {
      case response(status: Int, content: String, trailers: Int, informational: Int, isKept: Bool)
      case failure(TransportFailure.Kind)
      case ended(ConnectionMachine.Ending)
    }

    /// Responses that are valid, or end too early.
    static let others: [String: String] = [
      "a length": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "no content": "HTTP/1.1 204 No Content\r\n\r\n",
      "not modified": "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
      "chunks":
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n2 \r\nde\r\n0\r\nX: 1\r\n Y\r\n\r\n",
      "to the end": "HTTP/1.1 200 OK\r\n\r\nhello",
      "closing": "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.0": "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.0 kept": "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello",
      "informational":
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 104 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "folded": "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
      "excess": "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
      "excess behind chunks": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nevil",
      "a forbidden body": "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nevil!",
      "nothing": "", "half a status line": "HTTP/1.1 20", "half a head": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
      "half a body": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
      "half a chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
      "no last chunk": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
      "no trailer end": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n",
      "no HTTP": "SSH-2.0-OpenSSH_9.2\r\n",
      "many fields": "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 20) + "\r\n",
      "a long field": "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 500) + "\r\n\r\n",
      "a long field without end": "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 500),
      "many informational": String(repeating: "HTTP/1.1 103 x\r\n\r\n", count: 5) + "HTTP/1.1 200 OK\r\n\r\n",
      "long trailers": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        + String(repeating: "a: b\r\n", count: 60) + "\r\n",
    ]

    static let all = TransportConformance.malformedResponses.merging(others) { one, _ in one }
    static let limits = ResponseLimits(headBytes: 300, fieldCount: 10, informationalCount: 3)

    /// The result of receiving the pieces followed by the end of the stream.
    static func outcome(of pieces: [ArraySlice<UInt8>], isReset: Bool, isHead: Bool = false) -> Outcome {
      var machine = ConnectionMachine()
      _ = machine.submit(limits: limits, isHeadRequest: isHead, remainder: .nothing)
      machine.wrote(10)
      machine.wroteHead()
      var content: [UInt8] = []
      var informational = 0
      func answer(isKept: Bool) -> Outcome {
        .response(
          status: machine.head.status, content: String(decoding: content, as: UTF8.self),
          trailers: machine.takeTrailers().count, informational: informational, isKept: isKept)
      }
      do {
        for piece in pieces {
          var rest = piece
          while !rest.isEmpty {
            let (step, used) = try rest.withUnsafeBytes { try machine.receive($0) }
            if case .content(let range) = step {
              content += rest[(rest.startIndex + range.lowerBound)..<(rest.startIndex + range.upperBound)]
            }
            if step == .informational { informational += 1 }
            rest = rest.dropFirst(used)
          }
        }
      } catch let failure as TransportFailure {
        return .failure(failure.kind)
      } catch {
        return .failure(.other)
      }
      if machine.isWhole { return answer(isKept: machine.finish()) }
      let ending = machine.ended(isReset: isReset)
      return ending == .response ? answer(isKept: machine.finish()) : .ended(ending)
    }

    @Test(arguments: all.keys.sorted(), [false, true])
    func `a response has the same result wherever it is split`(name: String, isReset: Bool) throws {
      let bytes = Array(try #require(Self.all[name]).utf8)
      let whole = Self.outcome(of: [bytes[...]], isReset: isReset)
      for place in 0...bytes.count {
        let split = Self.outcome(of: [bytes[..<place], bytes[place...]], isReset: isReset)
        #expect(split == whole, "split at \(place)")
      }
      #expect(Self.outcome(of: bytes.indices.map { bytes[$0...$0] }, isReset: isReset) == whole, "byte by byte")
    }

    @Test(arguments: TransportConformance.malformedResponses.keys.sorted())
    func `a response with broken framing is malformed`(name: String) throws {
      let bytes = Array(try #require(Self.all[name]).utf8)
      #expect(Self.outcome(of: [bytes[...]], isReset: false) == .failure(.malformedResponse))
    }

    static let expected: [(String, Outcome)] = [
      ("a length", .response(status: 200, content: "hello", trailers: 0, informational: 0, isKept: true)),
      ("no content", .response(status: 204, content: "", trailers: 0, informational: 0, isKept: true)),
      ("not modified", .response(status: 304, content: "", trailers: 0, informational: 0, isKept: true)),
      ("chunks", .response(status: 200, content: "abcde", trailers: 1, informational: 0, isKept: true)),
      ("to the end", .response(status: 200, content: "hello", trailers: 0, informational: 0, isKept: false)),
      ("closing", .response(status: 200, content: "hello", trailers: 0, informational: 0, isKept: false)),
      ("HTTP/1.0", .response(status: 200, content: "hello", trailers: 0, informational: 0, isKept: false)),
      ("HTTP/1.0 kept", .response(status: 200, content: "hello", trailers: 0, informational: 0, isKept: true)),
      ("informational", .response(status: 200, content: "ok", trailers: 0, informational: 2, isKept: true)),
      ("excess", .response(status: 200, content: "ok", trailers: 0, informational: 0, isKept: false)),
      ("excess behind chunks", .response(status: 200, content: "ok", trailers: 0, informational: 0, isKept: false)),
      ("a forbidden body", .response(status: 204, content: "", trailers: 0, informational: 0, isKept: false)),
      ("nothing", .ended(.beforeResponse)), ("half a status line", .ended(.beforeResponse)),
      ("half a head", .ended(.inHead)), ("half a body", .ended(.inBody)), ("half a chunk", .ended(.inBody)),
      ("no last chunk", .ended(.inBody)), ("no trailer end", .ended(.inBody)),
      ("no HTTP", .failure(.malformedResponse)), ("many fields", .failure(.tooLarge)),
      ("a long field", .failure(.tooLarge)), ("a long field without end", .failure(.tooLarge)),
      ("many informational", .failure(.tooLarge)), ("long trailers", .failure(.tooLarge)),
    ]

    @Test(arguments: expected)
    func `each sample response has the expected result`(name: String, outcome: Outcome) throws {
      let bytes = Array(try #require(Self.all[name]).utf8)
      #expect(Self.outcome(of: [bytes[...]], isReset: false) == outcome)
    }

    @Test func `a reset does not end a body`() throws {
      let bytes = Array(try #require(Self.all["to the end"]).utf8)
      #expect(Self.outcome(of: [bytes[...]], isReset: true) == .ended(.inBody))
    }

    @Test func `a head request has no body`() throws {
      let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n".utf8)
      #expect(
        Self.outcome(of: [bytes[...]], isReset: false, isHead: true)
          == .response(status: 200, content: "", trailers: 0, informational: 0, isKept: true))
    }

    /// Otherwise a caller that receives until all bytes are used would never end.
    @Test func `bytes are used even if a response without content takes bytes back`() throws {
      var machine = ConnectionMachine()
      _ = machine.submit(limits: Self.limits, isHeadRequest: false, remainder: .nothing)
      machine.wrote(1)
      machine.wroteHead()
      let head = Array("HTTP/1.1 204 No Content\r\n\r\n".utf8)
      let first = try head.withUnsafeBytes { try machine.receive($0) }.step
      #expect(first == .head(.none))
      machine.giveBack(1)
      let (step, used) = try [UInt8](repeating: 0x78, count: 3).withUnsafeBytes { try machine.receive($0) }
      #expect(step == .more && used == 3)
      #expect(machine.finish() == false)
    }

    @Test func `content that is given back is delivered again`() throws {
      for head in ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"] {
        var machine = ConnectionMachine()
        _ = machine.submit(limits: Self.limits, isHeadRequest: false, remainder: .nothing)
        machine.wrote(1)
        machine.wroteHead()
        var rest = Array("HTTP/1.1 200 OK\r\n\(head)".utf8)[...]
        var content: [UInt8] = []
        while !rest.isEmpty {
          let (step, used) = try rest.withUnsafeBytes { try machine.receive($0) }
          guard case .content(let range) = step, !range.isEmpty else {
            rest = rest.dropFirst(used)
            continue
          }
          // The test uses one byte per step and gives back the rest.
          content.append(rest[rest.startIndex + range.lowerBound])
          machine.giveBack(range.count - 1)
          #expect(range.count == 1 || !machine.isWhole)
          rest = rest.dropFirst(range.lowerBound + 1)
        }
        #expect(content == Array("hello".utf8))
        #expect(machine.isWhole && machine.finish() == true)
      }
    }
  }
#endif
