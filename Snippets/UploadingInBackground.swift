// Uploads that the system carries out while the app is suspended. A script replaces Apple's session here.
import Errand
import ErrandBackground
import ErrandTesting
import Foundation

#if canImport(Darwin)
  import ErrandURLSession
#endif

struct SendFilm: APIRequest {
  let id: Int
  let file: URL
  var path: Path { "/films/\(id)" }
  var method: HTTPMethod { .put }
  var body: RequestBody? { .file(file) }
  struct Response: Decodable, Sendable { let views: Int }
}

let client = APIClient(baseURL: "https://api.example.com")
let folder = FileManager.default.temporaryDirectory.appending(path: "errand-snippet-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appending(path: "7.mp4")
try Data("a film".utf8).write(to: file)
let notes = folder.appending(path: "uploads", directoryHint: .isDirectory)

#if canImport(Darwin)
  // snippet.session
  let session = try URLSessionBackground(identifier: "com.example.films.uploads")
// snippet.end
#else
  let session = ScriptedBackgroundSession()
#endif

// snippet.make
let uploads = BackgroundUploads(client, over: session, in: notes) { ending in
  do {
    let sent = try await ending.value(for: SendFilm(id: 7, file: file))
    print(ending.tag ?? "", "was sent:", sent.views, "views")
  } catch {
    print(ending.tag ?? "", "failed:", error)
  }
}
// snippet.start
let film = try await uploads.start(SendFilm(id: 7, file: file), tag: "film-7")
// snippet.end

#if canImport(Darwin)
  try await print(film.value(for: SendFilm(id: 7, file: file)).views)
#else
  // snippet.script
  print(try session.body(of: film.id)?.count ?? 0, "bytes would be sent")
  try session.answer(film.id, .json("{\"views\":0}"))
  session.report(.allReported)
// snippet.end
#endif

// snippet.settled
await uploads.eventsHandled()
// snippet.end
