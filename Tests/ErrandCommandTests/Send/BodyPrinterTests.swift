import Errand
import Foundation
import Testing

@testable import ErrandCommand

struct BodyPrinterTests {
  private func showing(_ body: Data, type: String?, isTerminal: Bool = true) throws -> BodyPrinter.Showing {
    try showing(body, types: type.map { [$0] } ?? [], isTerminal: isTerminal)
  }

  private func showing(_ body: Data, types: [String], isTerminal: Bool = true) throws -> BodyPrinter.Showing {
    let fields = HTTPFields(types.map { HTTPField(.contentType, $0) })
    let response = HTTPResponse(
      head: ResponseHead(status: 200, fields: fields), body: body, url: try HTTPURL("http://h.example/"))
    return BodyPrinter.showing(body, of: response, isTerminal: isTerminal, paint: .plain)
  }

  @Test func `a pipe gets the raw bytes`() throws {
    let body = Data([0x7B, 0x7D, 0x1B, 0, 0xFF])
    #expect(try showing(body, type: "application/json", isTerminal: false) == .raw(body))
  }

  @Test func `a terminal gets indented JSON`() throws {
    let shown = BodyPrinter.Showing.text("{\n  \"a\": 1\n}\n")
    #expect(try showing(Data(#"{"a":1}"#.utf8), type: "application/json") == shown)
    #expect(try showing(Data(#"{"a":1}"#.utf8), type: "text/plain") == shown)
  }

  @Test func `a terminal gets text without control characters`() throws {
    #expect(try showing(Data("a\u{1B}[0m\r\nb".utf8), type: "text/html") == .text("a␛[0m\nb\n"))
    #expect(try showing(Data([0xE9]), type: "text/plain; charset=latin1") == .text("é\n"))
    #expect(try showing(Data("no type".utf8), type: nil) == .text("no type\n"))
    #expect(try showing(Data("{broken".utf8), type: "application/json") == .text("{broken\n"))
  }

  @Test func `a repeated type is read once`() throws {
    #expect(try showing(Data("text".utf8), types: ["text/html", "text/html"]) == .text("text\n"))
    #expect(try showing(Data("a,b".utf8), types: ["image/png", "image/png"]) != .text("a,b\n"))
  }

  @Test func `a terminal gets no binary data`() throws {
    let note = "3 bytes of image/png are not shown on a terminal; use -o FILE or a pipe"
    #expect(try showing(Data([1, 2, 3]), type: "image/png") == .note(note))
    #expect(try showing(Data([0xFF, 0]), type: nil) != .raw(Data([0xFF, 0])))
    #expect(try showing(Data(), type: "image/png") == .raw(Data()))
  }
}
