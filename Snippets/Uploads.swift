// Bodies from files and streams, multipart forms, and progress.
import Errand
import ErrandChecksum
import ErrandHTTP
import ErrandTesting
import Foundation

// snippet.form
struct AddPhoto: APIRequest {
  let title: String
  let tags: [String]
  let photo: URL
  var path: Path { "/photos" }
  var method: HTTPMethod { .post }
  var body: RequestBody? {
    .multipart([.text("title", title), .json("tags", tags), .file("image", photo)])
  }
  struct Response: Decodable, Sendable { let id: Int }
}
// snippet.end

let server = try LoopbackServer { request in
  request.method == "POST" ? .json(#"{"id":7}"#) : .ok()
}
let client = APIClient(baseURL: server.url)
let photo = FileManager.default.temporaryDirectory.appending(path: "errand-snippet-\(UUID().uuidString).jpg")
try Data(repeating: 7, count: 1 << 20).write(to: photo)
defer { try? FileManager.default.removeItem(at: photo) }

// snippet.send
let added = try await client.send(AddPhoto(title: "A cat", tags: ["pet"], photo: photo))
print(added.id)
// snippet.end

// snippet.file
struct PutFile: APIRequest {
  let name: String
  let file: URL
  var path: Path { "/files/\(name)" }
  var method: HTTPMethod { .put }
  var body: RequestBody? { .file(file) }
  var timeouts: Timeouts { Timeouts(idle: .seconds(30)) }
  typealias Response = Nothing
}
// snippet.end

// snippet.part
struct PutPart: APIRequest {
  let number: Int
  let body: RequestBody?  // stored, because `file(_:range:)` throws, and a computed body cannot
  var path: Path { "/films/7" }
  var method: HTTPMethod { .put }
  var arguments: Arguments { ["part": number] }
  typealias Response = Nothing

  init(_ number: Int, of file: URL, _ range: Range<Int64>) throws {
    self.number = number
    body = try .body(.file(file, range: range))
  }
}
// snippet.end
_ = try await client.send(PutPart(1, of: photo, 0..<(1 << 19)))

// snippet.progress
let call = client.start(PutFile(name: "cat", file: photo), onSuccess: { _ in print("sent") }) { error in
  print(error)
} onProgress: { progress in
  if progress.direction == .upload { print(progress.bytes, "of", progress.total ?? 0) }
}
// snippet.end

// snippet.reports
let upload = ProgressStream(.upload)
async let stored = client.send(
  PutFile(name: "dog", file: photo), options: CallOptions(accessories: [upload]))
for await report in upload.reports { print(report.bytes, "of", report.total ?? 0, report.timeLeft ?? .zero) }
_ = try await stored
// snippet.end

// snippet.source
final class Countdown: BodySource {
  private var next: UInt8

  init(from first: UInt8) { next = first }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    guard next > 0 else { return .end }
    buffer[0] = next
    next -= 1
    return .bytes(1)
  }
}

struct PutCountdown: APIRequest {
  var path: Path { "/countdown" }
  var method: HTTPMethod { .put }
  var body: RequestBody? {
    .stream(length: 10, isReplayable: true) { _ in Countdown(from: 10) }
  }
  typealias Response = Nothing
}
// snippet.end
_ = try await client.send(PutCountdown())

// snippet.pieces
struct PutLog: APIRequest {
  let body: RequestBody?  // stored, because the sequence can be read only once
  var path: Path { "/log" }
  var method: HTTPMethod { .put }
  typealias Response = Nothing

  init(lines: AsyncStream<Data>) { body = .pieces(lines, type: "text/plain") }
}
// snippet.end
_ = try await client.send(PutLog(lines: AsyncStream { $0.finish() }))

// snippet.choices
let asking = RequestBody.file(photo).expectingContinue()
let small = RequestBody.json(["many", "many", "many"]).compressed()
let part = RequestBody.body(try .file(photo, range: 0..<4_096), type: "image/jpeg")
// snippet.end

// snippet.digests
client.configure { $0.interceptors.calls.append(DigestingBodies()) }  // Content-Digest: sha-256=:…:
// snippet.end
_ = (asking, small, part, call)
