import Errand
import ErrandTesting
import Foundation

struct UploadScene: DemoScene {
  let title = "A form with an image: the file is read while it is sent, and must not be missing"
  let source = SceneSource()

  // shown: begin
  struct AddPhoto: APIRequest {
    let title: String
    let photo: URL
    var path: Path { "/photos" }
    var method: HTTPMethod { .post }
    var body: RequestBody? {
      .multipart([.text("title", title), .json("tags", ["pet"]), .file("image", photo)])
    }
    struct Response: Decodable, Sendable { let id: Int }
  }
  // shown: end

  static let length = 3 << 20

  func answer(_ request: RecordedRequest, from host: DemoHost) -> LoopbackAnswer { .json(#"{"id":7}"#, status: 201) }

  @MainActor func play(on stage: Stage) async throws {
    let client = stage.client
    let folder = FileManager.default.temporaryDirectory
    let photo = folder.appending(path: "errand-demo-\(UUID().uuidString).jpg")
    let missing = folder.appending(path: "missing.jpg")
    let bytes = Data((0..<Self.length).map { LoopbackAnswer.generatedByte(at: $0) })
    try bytes.write(to: photo)
    defer { try? FileManager.default.removeItem(at: photo) }

    // shown: begin
    let added = try await client.send(AddPhoto(title: "\"Mimi\" & 猫", photo: photo))
    let gone = await client.outcome(of: AddPhoto(title: "gone", photo: missing))
    // shown: end

    let request = stage.requests().first
    stage.showSent(request, fields: ["Content-Type", "Content-Length"], showingBody: false)
    stage.showReceived(value: added)
    stage.showReceived("\(gone.error?.stage.rawValue ?? "no error"): missing.jpg cannot be read")
    let body = Data(request?.body ?? [])
    stage.expect("the server received the complete image together with the form fields", body.range(of: bytes) != nil)
    stage.expect("the length of the form was announced", request?.headers["Content-Length"] == "\(body.count)")
    stage.expect("the title arrived as it was written", body.range(of: Data("\r\n\r\n\"Mimi\" & 猫\r\n".utf8)) != nil)
    stage.expect(
      "a missing file is reported before anything is sent",
      gone.error?.code == .invalidBody && gone.error?.message.contains("missing.jpg") == true
        && stage.requests().count == 1)
  }
}
