import ErrandCore
import Foundation
import Testing

@testable import ErrandURLSession

struct SessionMachineTests {
  private struct Unused: BodySink {
    func begin(_ head: ResponseHead, flow: BodyFlow) throws -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) throws -> Bool { true }
    func end() throws {}
  }

  private static func machine(
    _ method: HTTPMethod = .get, limits: ResponseLimits = ResponseLimits(), _ platform: SessionPlatform = .linux
  ) throws -> SessionMachine {
    let request = try HTTPRequest(method: method, url: "http://h.example/")
    return SessionMachine(Exchange(request: request, limits: limits), platform)
  }

  private static func kind(_ step: SessionMachine.Step) -> TransportFailure.Kind? {
    guard case .fail(let error, _) = step else { return nil }
    return (error as? TransportFailure)?.kind
  }

  private static func body(_ step: SessionMachine.Step) -> Data? {
    if case .succeed(_, let body, _) = step { body } else { nil }
  }

  @Test(arguments: [
    (ResponseHead(status: 103), TransportFailure.Kind.other), (ResponseHead(status: 101), .malformedResponse),
    (ResponseHead(status: 200, fields: ["Content-Length": "2, 3"]), .malformedResponse),
    (ResponseHead(status: 200, fields: ["Content-Length": "+2"]), .malformedResponse),
    (ResponseHead(status: 200, fields: ["Content-Length": "9223372036854775808"]), .malformedResponse),
    (ResponseHead(status: 200, fields: ["Transfer-Encoding": "gzip, chunked"]), .malformedResponse),
    (ResponseHead(status: 200, fields: ["Content-Length": "2", "Transfer-Encoding": "chunked"]), .malformedResponse),
    (ResponseHead(status: 200, fields: ["A": "1", "B": "2", "C": "3"]), .tooLarge),
    (ResponseHead(status: 200, fields: ["A": String(repeating: "x", count: 100)]), .tooLarge),
    (ResponseHead(status: 200, fields: ["Content-Length": "11"]), .tooLarge),
  ])
  func `invalid headers are rejected`(head: ResponseHead, kind: TransportFailure.Kind) throws {
    var machine = try Self.machine(limits: ResponseLimits(bodyBytes: 10, headBytes: 100, fieldCount: 2))
    #expect(Self.kind(machine.take(head)) == kind)
    #expect(machine.isOver)
  }

  @Test func `framing is not checked on Apple platforms`() throws {
    var machine = try Self.machine(.get, .apple)
    #expect(Self.kind(machine.take(ResponseHead(status: 200, fields: ["Transfer-Encoding": "Identity"]))) == nil)
  }

  @Test func `the rest of an error page is not awaited`() throws {
    let request = try HTTPRequest(url: "http://h.example/")
    var machine = SessionMachine(Exchange(request: request, sink: Unused()), .linux)
    _ = machine.take(ResponseHead(status: 404))
    _ = machine.open(.memory(limit: 3))
    #expect(Self.body(machine.take(Data("abc".utf8))) == nil)
    let last = machine.take(Data("de".utf8))
    guard case .succeed(let head, let body, let cancels) = last else {
      Issue.record("\(last)")
      return
    }
    #expect(head.status == 404 && body == Data("abc".utf8) && cancels && machine.isOver)
  }

  @Test func `a short body is truncated`() throws {
    var machine = try Self.machine()
    _ = machine.take(ResponseHead(status: 200, fields: ["Content-Length": "5"]))
    _ = machine.take(Data("abcd".utf8))
    #expect(Self.kind(machine.finish()) == .truncated)
  }

  @Test(arguments: [
    (HTTPMethod.head, 200, ""), (.get, 304, ""), (.get, 200, "gzip"),
  ])
  func `Content-Length does not always apply`(method: HTTPMethod, status: Int, coding: String) throws {
    var machine = try Self.machine(method)
    _ = machine.take(
      ResponseHead(status: status, fields: ["Content-Length": "5", "Content-Encoding": coding]))
    #expect(Self.body(machine.finish()) == Data())
  }

  @Test func `the limit counts decoded bytes`() throws {
    var machine = try Self.machine(limits: ResponseLimits(bodyBytes: 10))
    _ = machine.take(ResponseHead(status: 200, fields: ["Content-Length": "5", "Content-Encoding": "gzip"]))
    #expect(Self.kind(machine.take(Data(count: 10))) == nil)
    #expect(Self.kind(machine.take(Data(count: 1))) == .tooLarge)
  }

  @Test func `the expansion limit applies to a sink`() throws {
    let limits = ResponseLimits(expansion: BodyExpansion(ratio: 3, freeBytes: 10))
    let request = try HTTPRequest(url: "http://h.example/")
    for (fields, isBounded) in [
      (["Content-Length": "5", "Content-Encoding": "gzip"], true), (["Content-Length": "5"], false),
      (["Content-Encoding": "gzip"], false),
    ] as [(HTTPFields, Bool)] {
      var machine = SessionMachine(Exchange(request: request, limits: limits, sink: NoSink()), .apple)
      _ = machine.take(ResponseHead(status: 200, fields: fields))
      _ = machine.open(.sink)
      #expect(Self.kind(machine.take(Data(count: 15))) == nil)
      #expect(Self.kind(machine.take(Data(count: 1))) == (isBounded ? .tooLarge : nil))
    }
  }

  @Test(arguments: [200, 404]) func `the expansion limit applies to memory`(status: Int) throws {
    let limits = ResponseLimits(expansion: BodyExpansion(ratio: 3, freeBytes: 10))
    var machine = try Self.machine(limits: limits)
    _ = machine.take(ResponseHead(status: status, fields: ["Content-Length": "5", "Content-Encoding": "gzip"]))
    #expect(Self.kind(machine.take(Data(count: 15))) == nil)
    #expect(Self.kind(machine.take(Data(count: 1))) == .tooLarge)
  }

  @Test func `an end without headers is malformed`() throws {
    var machine = try Self.machine()
    #expect(Self.kind(machine.finish()) == .malformedResponse)
  }

  @Test func `a second response fails`() throws {
    let part = ResponseHead(status: 200, fields: ["Content-Type": "image/jpeg"])
    var machine = try Self.machine(.get, .apple)
    _ = machine.take(part)
    _ = machine.take(Data("one".utf8))
    guard case .fail(let error, cancels: true) = machine.take(part) else {
      return #expect(Bool(false), "the parts were joined")
    }
    #expect(
      "\(error)" == "URLSession delivers each part of a multipart/x-mixed-replace response as a response of its own; "
        + "use another transport for this request.")
    #expect(machine.isOver && Self.kind(machine.take(part)) == nil)
  }

  @Test func `Linux keeps multipart responses whole`() throws {
    var machine = try Self.machine()
    _ = machine.take(ResponseHead(status: 200))
    #expect(Self.kind(machine.take(ResponseHead(status: 200))) == nil && !machine.isOver)
  }

  @Test func `a dropped redirect body is discarded`() throws {
    var exchange = Exchange(request: try HTTPRequest(url: "http://h.example/"))
    exchange.handling.dropsRedirectBodies = true
    var machine = SessionMachine(exchange, .linux)
    _ = machine.take(ResponseHead(status: 302, fields: ["Location": "/"]))
    _ = machine.take(Data("moved".utf8))
    #expect(Self.body(machine.finish()) == Data())
  }

  @Test func `pieces received while paused are kept`() throws {
    let sink = NoSink()
    let exchange = Exchange(request: try HTTPRequest(url: "http://h.example/"), sink: sink)
    var machine = SessionMachine(exchange, .apple)
    guard case .ask = machine.take(ResponseHead(status: 200)) else { return #expect(Bool(false), "not asked") }
    guard case .rest = machine.open(.sink) else { return #expect(Bool(false), "not opened") }
    guard case .write = machine.take(Data([1])) else { return #expect(Bool(false), "not written") }
    guard case .pause = machine.wrote(goesOn: false) else { return #expect(Bool(false), "not paused") }
    guard case .rest = machine.take(Data([2])) else { return #expect(Bool(false), "written while paused") }
    guard case .rest = machine.finish() else { return #expect(Bool(false), "ended while paused") }
    guard case .write(Data([2])) = machine.resume() else { return #expect(Bool(false), "not taken up") }
    guard case .endSink = machine.wrote(goesOn: true) else { return #expect(Bool(false), "sink not ended") }
    #expect(Self.body(machine.sinkEnded()) == Data())
    guard case .rest = machine.fail(CancellationError(), cancels: true) else {
      return #expect(Bool(false), "ended twice")
    }
  }

  @Test func `an ended task is not cancelled`() throws {
    let exchange = Exchange(request: try HTTPRequest(url: "http://h.example/"), sink: NoSink())
    var machine = SessionMachine(exchange, .apple)
    _ = machine.take(ResponseHead(status: 200))
    _ = machine.open(.sink)
    _ = machine.take(Data([1]))
    _ = machine.wrote(goesOn: false)
    _ = machine.finish()
    guard case .fail(_, cancels: false) = machine.fail(CancellationError(), cancels: true) else {
      return #expect(Bool(false), "an ended task was cancelled")
    }
  }

  @Test func `URLSession resumes after the backlog`() throws {
    let exchange = Exchange(request: try HTTPRequest(url: "http://h.example/"), sink: NoSink())
    var machine = SessionMachine(exchange, .apple)
    _ = machine.take(ResponseHead(status: 200))
    _ = machine.open(.sink)
    _ = machine.take(Data([1]))
    guard case .pause = machine.wrote(goesOn: false) else { return #expect(Bool(false), "not paused") }
    _ = machine.take(Data([2]))
    _ = machine.take(Data([3]))
    guard case .write(Data([2])) = machine.resume() else { return #expect(Bool(false), "not taken up") }
    guard case .rest = machine.wrote(goesOn: false) else { return #expect(Bool(false), "suspended twice") }
    guard case .write(Data([3])) = machine.resume() else { return #expect(Bool(false), "not taken up again") }
    guard case .resume = machine.wrote(goesOn: true) else { return #expect(Bool(false), "left suspended") }
    guard case .write(Data([4])) = machine.take(Data([4])) else { return #expect(Bool(false), "not written") }
    guard case .rest = machine.wrote(goesOn: true) else { return #expect(Bool(false), "resumed twice") }
  }

  private struct NoSink: BodySink {
    func begin(_ head: ResponseHead, flow: BodyFlow) -> BodyDisposition { .sink }
    func write(_ piece: UnsafeRawBufferPointer) -> Bool { true }
    func end() {}
  }
}

private func ~= (pattern: Data, value: Data) -> Bool { pattern == value }
