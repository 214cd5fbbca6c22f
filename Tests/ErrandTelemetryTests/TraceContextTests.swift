import Testing

@testable import ErrandTelemetry

private let trace = "12345678901234567890123456789012"
private let span = "1234567890123456"

/// The cases of the test suite in the repository of W3C Trace Context, and the examples of the specification.
struct TraceContextTests {
  @Test(
    arguments: [
      "00-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01", "cc-\(trace)-\(span)-01-what-the-future-will-be-like",
      " 00-\(trace)-\(span)-01", "\t00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ", "00-\(trace)-\(span)-01\t",
      "\t 00-\(trace)-\(span)-01 \t",
    ])
  func `valid traceparent is read`(_ text: String) throws {
    let context = try #require(TraceContext(traceparent: text))
    #expect(context.traceID.description == trace)
    #expect(context.spanID.description == span)
    #expect(context.isSampled)
    #expect(context.traceparent == "00-\(trace)-\(span)-01")
  }

  @Test(
    arguments: [
      "", "00-\(trace)-\(span)-01.", "00-\(trace)-\(span)-01-what-the-future-will-be-like",
      "cc-\(trace)-\(span)-01.what-the-future-will-be-like", "ff-\(trace)-\(span)-01", ".0-\(trace)-\(span)-01",
      "0.-\(trace)-\(span)-01", "000-\(trace)-\(span)-01", "0000-\(trace)-\(span)-01", "0-\(trace)-\(span)-01",
      "00-00000000000000000000000000000000-\(span)-01", "00-.2345678901234567890123456789012-\(span)-01",
      "00-1234567890123456789012345678901.-\(span)-01", "00-123456789012345678901234567890123-\(span)-01",
      "00-1234567890123456789012345678901-\(span)-01", "00-\(trace)-0000000000000000-01",
      "00-\(trace)-.234567890123456-01", "00-\(trace)-123456789012345.-01", "00-\(trace)-12345678901234567-01",
      "00-\(trace)-123456789012345-01", "00-\(trace)-\(span)-.0", "00-\(trace)-\(span)-0.", "00-\(trace)-\(span)-001",
      "00-\(trace)-\(span)-1", "00-\(trace)-\(span)", "00_\(trace)-\(span)-01",
      "00-ABCDEF78901234567890123456789012-\(span)-01", "0a-\(trace)-\(span)-0A", "0A-\(trace)-\(span)-01",
      "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-é",
    ])
  func `invalid traceparent is rejected`(_ text: String) {
    #expect(TraceContext(traceparent: text) == nil)
  }

  @Test func `missing traceparent drops tracestate`() {
    #expect(TraceContext(traceparent: nil, tracestate: ["foo=1"]) == nil)
  }

  @Test(arguments: [
    ("00", false, "00"), ("01", true, "01"), ("02", false, "02"), ("03", true, "03"), ("09", true, "01"),
    ("ff", true, "03"),
  ])
  func `only known flags are kept`(_ text: String, isSampled: Bool, written: String) throws {
    let context = try #require(TraceContext(traceparent: "00-\(trace)-\(span)-\(text)"))
    #expect(context.isSampled == isSampled)
    #expect(context.traceparent == "00-\(trace)-\(span)-\(written)")
  }

  @Test func `invalid tracestate keeps traceparent`() throws {
    let context = try #require(TraceContext(traceparent: "00-\(trace)-\(span)-00", tracestate: ["foo =1"]))
    #expect(context.state.members.isEmpty)
    #expect(!context.isSampled)
  }

  @Test func `child keeps trace and state`() throws {
    let parent = try #require(TraceContext(traceparent: "00-\(trace)-\(span)-03", tracestate: ["rojo=1"]))
    let child = parent.child(isSampled: false)
    #expect(child.traceID == parent.traceID)
    #expect(child.spanID != parent.spanID)
    #expect(child.flags == .random)
    #expect(child.state == parent.state)
  }

  @Test func `root is random and readable`() throws {
    let (one, other) = (TraceContext.root(), TraceContext.root(isSampled: false))
    #expect(one.traceID != other.traceID)
    #expect(one.flags == [.sampled, .random])
    #expect(other.flags == .random)
    #expect(TraceContext(traceparent: one.traceparent) == one)
  }

  @Test func `identity of zeros does not exist`() {
    #expect(TraceID(high: 0, low: 0) == nil)
    #expect(SpanID(0) == nil)
    #expect(TraceID("00000000000000000000000000000001")?.low == 1)
    #expect(SpanID("00f067aa0ba902b7")?.value == 0x00f0_67aa_0ba9_02b7)
  }
}

struct TraceStateTests {
  @Test(
    arguments: [
      ([""], ""), (["foo=1", ""], "foo=1"), (["", "foo=1"], "foo=1"), (["foo=1,,bar=2"], "foo=1,bar=2"),
      (["foo=1,bar=2", "rojo=1,congo=2", "baz=3"], "foo=1,bar=2,rojo=1,congo=2,baz=3"),
      (["foo=1,foo=1"], "foo=1"), (["foo=1,foo=2"], "foo=1"), (["foo=1", "foo=2"], "foo=1"),
      (["foo=1 \t , \t bar=2, \t baz=3"], "foo=1,bar=2,baz=3"),
      (["foo=1\t \t,\t \tbar=2,\t \tbaz=3"], "foo=1,bar=2,baz=3"), (["\t foo=1 \t"], "foo=1"), (["foo= 1"], "foo= 1"),
      (["foo@=1,bar=2"], "foo@=1,bar=2"), (["foo@@bar=1,bar=2"], "foo@@bar=1,bar=2"),
      (["foo@bar@baz=1,bar=2"], "foo@bar@baz=1,bar=2"), (["0a=1"], "0a=1"),
      (["rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"], "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE"),
      (["\(String(repeating: "z", count: 256))=1"], ""),
    ])
  func `valid list is read and written`(_ fields: [String], text: String) throws {
    let state = try #require(TraceState(fields))
    // A member of more than 128 bytes is only removed if the list is too long.
    #expect(state.text == (text.isEmpty ? fields.joined() : text))
  }

  @Test(
    arguments: [
      "foo =1", "FOO=1", "foo.bar=1", "@foo=1,bar=2", "_foo=1", "\(String(repeating: "z", count: 257))=1",
      "foo=bar=baz", "foo=", "foo", "=1", "foo=\u{7F}", "foo=é", "foo=a\tb",
      "foo=\(String(repeating: "v", count: 257))",
    ])
  func `list with invalid member is rejected`(_ text: String) {
    #expect(TraceState(["bar=2", text]) == nil)
  }

  @Test func `every allowed character is kept`() throws {
    let letters = "abcdefghijklmnopqrstuvwxyz0123456789_-*/"
    let value = String(
      decoding: (UInt8(0x20)...0x7E).filter { $0 != 0x2C && $0 != 0x3D }, as: UTF8.self)
    for key in [letters, "\(letters)@a-z0-9_-*/"] {
      #expect(try #require(TraceState(["\(key)=\(value)"]))[key] == value)
    }
  }

  @Test func `thirty-third member is rejected`() {
    let members = (1...33).map { "bar\($0)=\($0)" }
    #expect(TraceState([members.dropLast().joined(separator: ",")])?.members.count == 32)
    #expect(TraceState([members.joined(separator: ",")]) == nil)
  }

  @Test func `changed value moves to the front`() throws {
    var state = try #require(TraceState(["congo=1,rojo=2"]))
    state["rojo"] = "3"
    #expect(state.text == "rojo=3,congo=1")
    state["congo"] = nil
    #expect(state.text == "rojo=3")
    state["Rojo"] = "4"
    state["rojo"] = "a,b"
    state["ro=jo"] = "a"
    state["x"] = "a "
    #expect(state.text == "rojo=3")
  }

  @Test func `full list loses its last member`() throws {
    var state = try #require(TraceState([(1...32).map { "k\($0)=v" }.joined(separator: ",")]))
    state["new"] = "v"
    #expect(state.members.count == 32)
    #expect(state.members.first?.key == "new")
    #expect(state.members.last?.key == "k31")
  }

  @Test func `text of 512 bytes is whole`() throws {
    let long = "a=\(String(repeating: "v", count: 254))"
    let whole = "\(long),b=\(String(repeating: "v", count: 253))"
    #expect(whole.utf8.count == 512)
    #expect(try #require(TraceState([whole])).text == whole)
  }

  @Test func `long members are removed first`() throws {
    let long = "long=\(String(repeating: "v", count: 200))"
    let short = (0..<10).map { "k\($0)=\(String(repeating: "v", count: 40))" }
    let state = try #require(TraceState([([short[0], long] + short[1...]).joined(separator: ",")]))
    #expect(state.text == short.joined(separator: ","))
  }

  @Test func `short members are removed from the end`() throws {
    let short = (10..<30).map { "k\($0)=\(String(repeating: "v", count: 40))" }
    let state = try #require(TraceState([short.joined(separator: ",")]))
    #expect(state.text == short.prefix(11).joined(separator: ","))
  }
}
