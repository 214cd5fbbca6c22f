import Errand
import ErrandCurl
import Foundation
import Testing
import TransportChecks

@Suite(.serialized) struct UploadServerTests {
  private static var bytes: Data { UploadFolder.bytes(300_000) }

  private static func post(_ body: RequestBody) -> Inquiry {
    Inquiry("/post") {
      $0.method = .post
      $0.body = body
    }
  }

  @Test func `httpbin parses a multipart form`() async throws {
    let folder = try UploadFolder()
    let photo = try folder.file("cat.jpg", Self.bytes)
    let form: Multipart = [
      .text("title", "Ein \"Bild\"\r\n中文"), .json("tags", ["pet"]), .file("image", photo),
      .body("notes", PieceSource.streamed([.bytes(Array("one ".utf8)), .bytes(Array("two".utf8))], length: 7)),
      .data("raw", Data("é".utf8), filename: "a \"b\".txt", type: "text/plain"),
    ]
    let answer = try await Servers.httpbin().send(Self.post(.multipart(form)))
    #expect(answer["form"]["title"]?.stringValue == "Ein \"Bild\"\r\n中文")
    #expect(answer["form"]["tags"]?.stringValue == #"["pet"]"#)
    #expect(answer["form"]["notes"]?.stringValue == "one two")
    #expect(answer["files"]["raw"]?.stringValue == "é")
    let image = "data:image/jpeg;base64," + Self.bytes.base64EncodedString()
    #expect(answer["files"]["image"]?.stringValue == image)
  }

  @Test func `httpbin receives files and streams`() async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f.bin", Self.bytes)
    let expected = "data:application/octet-stream;base64," + Self.bytes.base64EncodedString()
    let client = try Servers.httpbin()
    for body in [
      RequestBody.file(file), PieceSource.body([.bytes(Array(Self.bytes))], length: Int64(Self.bytes.count)),
      RequestBody.file(file).expectingContinue(),
    ] {
      let answer = try await client.send(Self.post(body))
      #expect(answer["data"]?.stringValue == expected)
      #expect(answer["headers"]["Content-Length"]?.stringValue == "300000")
    }
  }

  @Test(arguments: ["/redirect-to?url=/post&status_code=307", "/redirect-to?url=/post&status_code=308"])
  func `httpbin redirects a file`(path: String) async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f.txt", Data("again".utf8))
    let answer = try await Servers.httpbin().send(
      Inquiry(RequestPath(stringLiteral: path)) {
        $0.method = .post
        $0.body = .file(file)
      })
    #expect(answer["data"]?.stringValue == "again")
  }

  /// nginx stores the uploaded body and returns it.
  @Test(arguments: ["ERRAND_NGINX", "ERRAND_NGINX_TLS"], TrustCarrier.allCases)
  func `nginx stores a PUT body`(variable: String, carrier: TrustCarrier) async throws {
    let folder = try UploadFolder()
    let file = try folder.file("f", Self.bytes)
    let isTLS = variable == "ERRAND_NGINX_TLS"
    let client =
      isTLS ? try Servers.tls(variable, over: carrier) { $0.httpVersion = .http2 } : try Servers.nginx(over: carrier)
    let steps: [PieceSource.Step] =
      [.later, .bytes(Array(Self.bytes.prefix(70_000))), .later]
      + [.bytes(Array(Self.bytes.dropFirst(70_000)))]
    let late = { (length: Int64?) in
      PieceSource.body(
        steps, length: length, onLater: { flow in Thread.detachNewThread { flow.resume() } })
    }
    for body in [
      RequestBody.file(file), .file(file).expectingContinue(), late(Int64(Self.bytes.count)), late(nil),
    ] {
      let name = "/put/\(UUID().uuidString)"
      let path = RequestPath(stringLiteral: name)
      let put = try await client.response(Stored(path: path, method: .put, body: body))
      let usesHTTP2 = isTLS && (carrier == .engine || CurlVersion.running.sendsBodiesOverHTTP2)
      #expect(put.status == 201 && put.raw.head.version == (usesHTTP2 ? .http2 : .http1_1))
      #expect(put.metrics.exchanges.first?.bytesSent ?? 0 >= 300_000)
      #expect(try await client.send(Stored(path: path)) == Self.bytes)
    }
  }
}

private struct Stored: APIRequest {
  var path: Path
  var method = HTTPMethod.get
  var body: RequestBody?
}
