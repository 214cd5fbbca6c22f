// Downloads that the system carries out while the app is suspended. A script replaces Apple's session here.
import Errand
import ErrandBackground
import ErrandChecksum
import ErrandTesting
import Foundation

#if canImport(Darwin)
  import ErrandURLSession
#endif

struct GetFilm: APIRequest {
  let id: Int
  let file: URL
  var path: Path { "/films/\(id).mp4" }
  var download: Download? { .to(file) }
  typealias Response = DownloadedFile
}

let client = APIClient(baseURL: "https://api.example.com")
let folder = FileManager.default.temporaryDirectory.appending(path: "errand-snippet-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appending(path: "7.mp4")
let notes = folder.appending(path: "background", directoryHint: .isDirectory)

#if canImport(Darwin)
  // snippet.session
  let session = try URLSessionBackground(identifier: "com.example.films.downloads")
// snippet.end
#else
  let session = ScriptedBackgroundSession()
#endif

// snippet.make
let downloads = BackgroundDownloads(client, over: session, in: notes, checkedBy: .standard) { ending in
  switch ending.result {
  case .success(let file): print(ending.tag ?? "", "is at", file.url.path)
  case .failure(let error): print(ending.tag ?? "", "failed:", error.message)
  }
}
// snippet.start
let film = try await downloads.start(GetFilm(id: 7, file: file), tag: "film-7")
// snippet.end

#if canImport(Darwin)
  try await print(film.value().url)
#else
  // snippet.script
  try session.answer(film.id, .text("a film"))
  session.report(.allReported)
// snippet.end
#endif

// snippet.settled
await downloads.eventsHandled()
// snippet.end
