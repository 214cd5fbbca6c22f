package import ErrandCore
import ErrandTesting
import Testing

/// Checks of response bodies with a content coding.
package struct CodedBodyChecks: Sendable {
  private let text: String
  private let coded: [UInt8]
  private let coding: String

  /// - Parameters:
  ///   - text: The text of the decoded body.
  ///   - coded: The text in the coding.
  ///   - coding: The value of the field Content-Encoding.
  package init(_ text: String, coded: [UInt8], coding: String) {
    self.text = text
    self.coded = coded
    self.coding = coding
  }

  private func answer(_ bytes: [UInt8]) -> LoopbackAnswer { .data(bytes).setting("Content-Encoding", to: coding) }

  /// The body is decoded if it has a length, if it is chunked, and if it ends with the connection.
  package func arrivesDecoded(over transport: any Transport) async throws {
    let server = try LoopbackServer()
    server.enqueue(
      answer(coded),
      .chunked(coded.map { [$0] }).setting("Content-Encoding", to: coding),
      LoopbackAnswer([.head(status: 200, headers: ["Content-Encoding": coding]), .body(coded), .close]))
    for _ in 0..<3 {
      let response = try await TransportConformance.get(transport, server.url)
      #expect(response.text == text)
      #expect(response.fields[.contentEncoding] == coding)
    }
  }

  /// A body that ends too early is a failure, whatever its length.
  package func rejectsTruncation(over transport: any Transport) async throws {
    let server = try LoopbackServer { request in
      answer(Array(coded.prefix(Int(request.path.dropFirst()) ?? 0)))
    }
    for count in 1..<coded.count {
      let request = try HTTPRequest(url: server.url + "/\(count)")
      let failure = await TransportConformance.failure(of: Exchange(request: request), over: transport)
      #expect(failure?.kind == .undecodableContent)
    }
    #expect(try await TransportConformance.get(transport, server.url + "/\(coded.count)").text == text)
  }
}
